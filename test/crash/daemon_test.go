// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const nodeName = "host-07-sandboxd"

// readyWithin is how long a start may take on a busy machine.
const readyWithin = 2 * time.Minute

// process is one run of the daemon with its own servers. Once they are closed, none of
// its requests is in progress.
type process struct {
	cmd    *exec.Cmd
	output *output
	ended  chan struct{} // closed when the process has ended
	ready  chan struct{} // closed when the Node is registered
	asked  chan struct{} // one for each claim or release that was answered

	sandboxd, api *httptest.Server
	requests      atomic.Int64 // to both servers
}

// start runs the daemon with the flags of a normal installation.
func (w *world) start() *process {
	w.t.Helper()
	l := &process{output: &output{}, ended: make(chan struct{}), ready: make(chan struct{}), asked: make(chan struct{}, 1<<16)}
	w.registered.Store(new(sync.OnceFunc(func() { close(l.ready) })))
	l.sandboxd = httptest.NewServer(l.count(l.countAsking(w.sandboxd.Handler())))
	l.api = httptest.NewServer(l.count(w.api))
	w.must(writeKubeconfig(w.kubeconfig(), l.api.URL))
	l.cmd = exec.CommandContext(context.WithoutCancel(w.t.Context()), w.program,
		"--node-name="+nodeName, "--node-ip=127.0.0.1", "--listen-addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0",
		"--sandboxd-url="+l.sandboxd.URL, "--sandboxd-token-file="+w.tokenFile(),
		"--state-path="+w.table, "--orphan-scan-interval=1s",
		// After a kill under load many Pods and owners are missing without a seen deletion.
		"--missing-owners-hold=2s",
	)
	l.cmd.Env = []string{"KUBECONFIG=" + w.kubeconfig(), "VK_LOG_LEVEL=debug"}
	l.cmd.Stdout, l.cmd.Stderr = l.output, l.output
	l.cmd.SysProcAttr = dieWithParent()
	w.must(l.cmd.Start())
	go func() {
		defer close(l.ended)
		_ = l.cmd.Wait() // ProcessState holds the result
	}()
	w.processes = append(w.processes[max(0, len(w.processes)-1):], l)
	return l
}

func (l *process) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		l.requests.Add(1)
		next.ServeHTTP(rw, r)
	})
}

func (l *process) countAsking(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/claim") || strings.HasSuffix(r.URL.Path, "/release") {
			defer func() {
				select {
				case l.asked <- struct{}{}:
				default:
				}
			}()
		}
		next.ServeHTTP(rw, r)
	})
}

// wait waits for the kill point or the end of the process.
func (l *process) wait(m killPoint) error {
	limit := time.NewTimer(readyWithin)
	defer limit.Stop()
	await := func(c <-chan struct{}) error {
		select {
		case <-c:
			return nil
		case <-l.ended:
			return errors.New("the daemon ended on its own")
		case <-limit.C:
			return errors.New("the daemon was not ready within " + readyWithin.String())
		}
	}
	switch m.after {
	case afterReady:
		if err := await(l.ready); err != nil {
			return err
		}
	case afterAsking:
		if err := l.waitAsked(m.asked, await); err != nil {
			return err
		}
	}
	select {
	case <-time.After(m.then):
		return nil
	case <-l.ended:
		return errors.New("the daemon ended on its own")
	}
}

// waitAsked waits for n claims and releases. It stops waiting one second after the
// daemon is ready.
func (l *process) waitAsked(n int, await func(<-chan struct{}) error) error {
	go func() {
		select {
		case <-l.ready:
			time.Sleep(time.Second)
		case <-l.ended:
		}
		for range n {
			select {
			case l.asked <- struct{}{}:
			case <-l.ended:
				return
			}
		}
	}()
	for range n {
		if err := await(l.asked); err != nil {
			return err
		}
	}
	return nil
}

// kill ends the process with SIGKILL and returns when its requests have been handled.
func (l *process) kill() {
	_ = l.cmd.Process.Kill() // it may have ended already; wait reports that
	<-l.ended
	l.sandboxd.Close()
	l.api.Close()
}

// output collects the output of the process.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func writeKubeconfig(path, url string) error {
	c := clientcmdapi.NewConfig()
	c.Clusters["crash"] = &clientcmdapi.Cluster{Server: url}
	c.Contexts["crash"] = &clientcmdapi.Context{Cluster: "crash"}
	c.CurrentContext = "crash"
	return clientcmd.WriteToFile(*c, path)
}

func (w *world) kubeconfig() string { return filepath.Join(w.dir, "kubeconfig") }

func (w *world) tokenFile() string { return filepath.Join(w.dir, "token") }

func writeToken(path string) error { return os.WriteFile(path, []byte(rootToken+"\n"), 0o600) }
