// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/kubeletapi"
	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestRun(t *testing.T) {
	client := fake.NewClientset()
	created, err := client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(runConfig(client, newFakeProvider(nil), nil))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()

	var node *corev1.Node
	select {
	case e := <-created.ResultChan():
		if e.Type != watch.Added {
			t.Fatalf("first event = %v", e.Type)
		}
		node = e.Object.(*corev1.Node)
	case err := <-done:
		t.Fatalf("Run ended: %v", err)
	}
	port := node.Status.DaemonEndpoints.KubeletEndpoint.Port
	https := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // as the API server connects
	}}
	get := func(path string) (int, string) {
		t.Helper()
		response, err := https.Get("https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))) + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	select {
	case <-v.Registered():
	case <-t.Context().Done():
		t.Fatal("the Node's creation is not followed by its registration")
	}
	if got := slices.Sorted(maps.Keys(v.QueueDepths())); !slices.Equal(got, slices.Sorted(slices.Values(Queues()))) {
		t.Errorf("queues %v have a depth, want %v", got, Queues())
	}
	if code, body := get("/containerLogs/ns/pod/agent"); code != http.StatusNotImplemented {
		t.Errorf("logs = %d %q", code, body)
	}
	if code, body := get("/pods"); code != http.StatusNotFound {
		t.Errorf("pods = %d %q", code, body)
	}

	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run ended with %v", err)
	}
	if n := fakecluster.StoredNode(t, client); fakecluster.Condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
		t.Error("the node is not Ready after a stop: its Pods would be evicted")
	}
}

func TestRunFailsBeforeAnythingIsPublished(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	broken := filepath.Join(t.TempDir(), "broken.pem")
	if err := os.WriteFile(broken, []byte("no PEM"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(*Config)
		says   string
		of     any // a pointer to an error of the kind that is wanted
	}{
		"address in use":       {func(c *Config) { c.ListenAddr = taken.Addr().String() }, "address already in use", new(*kubeletapi.AddressError)},
		"address of another":   {func(c *Config) { c.ListenAddr = "192.0.2.1:1" }, "192.0.2.1:1", new(*kubeletapi.AddressError)},
		"a broken certificate": {func(c *Config) { c.CertFile, c.KeyFile = broken, broken }, broken, new(*kubeletapi.CertificateError)},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			v, err := New(runConfig(client, newFakeProvider(nil), tc.change))
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Run(t.Context()); !errors.As(err, tc.of) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error = %v, want a %T that names %s", err, tc.of, tc.says)
			}
			if got := client.Actions(); len(got) != 0 {
				t.Errorf("requests = %v, want none", got)
			}
		})
	}
}

func TestNewWantsACompleteConfig(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"node name":        func(c *Config) { c.NodeName = "" },
		"client":           func(c *Config) { c.Client = nil },
		"heartbeat client": func(c *Config) { c.HeartbeatClient = nil },
		"pod informer":     func(c *Config) { c.Pods = nil },
		"provider":         func(c *Config) { c.Provider = nil },
		"event recorder":   func(c *Config) { c.Recorder = nil },
		"conditions":       func(c *Config) { c.Conditions = nil },
		"node informer":    func(c *Config) { c.Node = nil },
		"queue rate":       func(c *Config) { c.QueueQPS = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(runConfig(fake.NewClientset(), newFakeProvider(nil), change)); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error = %v, want one about the %s", err, name)
			}
		})
	}
}

func TestNewReportsAllThatIsMissing(t *testing.T) {
	_, err := New(Config{})
	if err == nil {
		t.Fatal("an empty configuration was accepted")
	}
	got := strings.Split(err.Error(), "\n")
	if len(got) != 9 || !strings.HasPrefix(got[0], "node name") || !slices.IsSorted(got[1:8]) {
		t.Errorf("error = %q, want the node name, seven parts in order, and the queue rate", got)
	}
}
