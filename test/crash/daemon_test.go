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

// life is one run of the daemon's process, with servers of its own: when they
// have closed, nothing that it has sent is on its way any more.
type life struct {
	cmd    *exec.Cmd
	output *output
	ended  chan struct{} // closed when the process has ended
	ready  chan struct{} // closed when the Node is registered
	asked  chan struct{} // one for each claim or release that was answered

	sandboxd, api *httptest.Server
	requests      atomic.Int64 // to either of them
}

// start runs the daemon with the flags that an operator would give it.
func (w *world) start() *life {
	w.t.Helper()
	l := &life{output: &output{}, ended: make(chan struct{}), ready: make(chan struct{}), asked: make(chan struct{}, 1<<16)}
	w.registered.Store(new(sync.OnceFunc(func() { close(l.ready) })))
	l.sandboxd = httptest.NewServer(l.count(l.countAsking(w.sandboxd.Handler())))
	l.api = httptest.NewServer(l.count(w.api))
	w.do(writeKubeconfig(w.kubeconfig(), l.api.URL))
	l.cmd = exec.CommandContext(context.WithoutCancel(w.t.Context()), w.program,
		"--node-name="+nodeName, "--node-ip=127.0.0.1", "--listen-addr=127.0.0.1:0", "--metrics-addr=127.0.0.1:0",
		"--sandboxd-url="+l.sandboxd.URL, "--sandboxd-token-file="+w.tokenFile(),
		"--state-path="+w.table, "--orphan-scan-interval=1s",
		// A kill under load loses many deletions and owners unseen.
		"--missing-owners-hold=2s",
	)
	l.cmd.Env = []string{"KUBECONFIG=" + w.kubeconfig(), "VK_LOG_LEVEL=debug"}
	l.cmd.Stdout, l.cmd.Stderr = l.output, l.output
	l.cmd.SysProcAttr = dieWithParent()
	w.do(l.cmd.Start())
	go func() {
		defer close(l.ended)
		_ = l.cmd.Wait() // how it ended is in ProcessState
	}()
	w.lives = append(w.lives[max(0, len(w.lives)-1):], l)
	return l
}

func (l *life) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		l.requests.Add(1)
		next.ServeHTTP(rw, r)
	})
}

func (l *life) countAsking(next http.Handler) http.Handler {
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

// wait waits for the moment, or the end of the process.
func (l *life) wait(m moment) error {
	limit := time.NewTimer(readyWithin)
	defer limit.Stop()
	await := func(c <-chan struct{}) error {
		select {
		case <-c:
			return nil
		case <-l.ended:
			return errors.New("the daemon ended by itself")
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
		return errors.New("the daemon ended by itself")
	}
}

// waitAsked waits for n claims and releases. A daemon that is ready and has
// nothing to ask for is not waited for much longer.
func (l *life) waitAsked(n int, await func(<-chan struct{}) error) error {
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

// kill ends the process with SIGKILL, and returns when all that it had sent
// has been dealt with.
func (l *life) kill() {
	_ = l.cmd.Process.Kill() // it may have ended by itself, which wait has found
	<-l.ended
	l.sandboxd.Close()
	l.api.Close()
}

// output is what the process has printed.
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
