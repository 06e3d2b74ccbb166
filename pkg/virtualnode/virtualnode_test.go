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
	"k8s.io/client-go/tools/record"
)

func runConfig(client *fake.Clientset, change func(*Config)) Config {
	return *nodeConfig(func(c *Config) {
		c.ListenAddr = "127.0.0.1:0"
		c.QueueQPS, c.QueueBurst = 200, 400
		c.Client, c.HeartbeatClient = client, client
		c.Pods, c.Node = NewPodInformer(client, c.NodeName), NewNodeInformer(client, c.NodeName)
		c.Provider, c.Recorder = newFakeProvider(nil), &record.FakeRecorder{}
		c.Conditions = alwaysReachable
		if change != nil {
			change(c)
		}
	})
}

func TestRun(t *testing.T) {
	client := fake.NewClientset()
	created, err := client.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(runConfig(client, nil))
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
	if n := getNode(t, client); condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
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
		of     Setting
	}{
		"address in use":       {func(c *Config) { c.ListenAddr = taken.Addr().String() }, "address already in use", SettingListenAddr},
		"address of another":   {func(c *Config) { c.ListenAddr = "192.0.2.1:1" }, "192.0.2.1:1", SettingListenAddr},
		"a broken certificate": {func(c *Config) { c.CertFile, c.KeyFile = broken, broken }, broken, SettingCertFile},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			v, err := New(runConfig(client, tc.change))
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Run(t.Context()); !isSettingError(err, tc.of) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error = %v, want one about %s that names %s", err, tc.of, tc.says)
			}
			if got := client.Actions(); len(got) != 0 {
				t.Errorf("requests = %v, want none", got)
			}
		})
	}
}

// isSettingError reports whether err says that a setting has to be changed.
func isSettingError(err error, of Setting) bool {
	var setting *SettingError
	return errors.As(err, &setting) && setting.Setting == of && errors.Unwrap(setting) != nil
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
		"queue rate":       func(c *Config) { c.QueueQPS = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := New(runConfig(fake.NewClientset(), change)); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("error = %v, want one about the %s", err, name)
			}
		})
	}
}
