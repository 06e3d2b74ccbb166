// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/test/crash/kubeapi"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

const (
	rootToken = "SECRET-root-51c0de"
	podKey    = "default/my-pod"
	stateFile = "/var/lib/vk-sandbox/claims.json"
)

// TestService installs the daemon on a real systemd with the commands of
// docs/installation.md and runs a Pod. The unit must allow everything that the daemon
// needs, and writes only to the state directory. Then the page's commands upgrade and
// remove it.
func TestService(t *testing.T) {
	sandboxd, err := sandboxdsim.New(config.Config{
		RootToken: rootToken,
		Pools:     []config.Pool{{Key: config.Key{Template: "ghcr.io/cocoonstack/sandbox/rt:24.04"}, Target: 2}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sandboxd.Close() }) // it keeps nothing
	peer := httptest.NewServer(sandboxd.Handler())
	t.Cleanup(peer.Close)
	api := kubeapi.New(kubeapi.Config{})
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)

	system := boot(t, hostFolder(t))
	page := systemdPage(t)
	system.sh(page.install)
	settings(t, system, server.URL, peer.URL)
	system.sh(page.permit)
	system.sh(page.start)

	eventually(t, system, "the Node is registered under the host's name", func() bool {
		return api.Get("nodes", "/host-07-sandboxd") != nil
	})
	createPod(t, api)
	running := func() bool {
		pod := api.Get(kubeapi.Pods, podKey)
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		return phase == string(corev1.PodRunning)
	}
	eventually(t, system, "the Pod is Running", running)
	claim := claimID(t, system)

	if shown := system.sh(page.show); !strings.Contains(shown, claim) || !strings.Contains(shown, podKey) {
		t.Errorf("the claims do not show %s of %s:\n%s", claim, podKey, shown)
	}

	info, err := os.Stat(system.path(stateFile))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Stat(system.path(filepath.Dir(stateFile)))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || folder.Mode().Perm() != 0o700 {
		t.Errorf("the claims table has mode %o, its folder %o; want 600 and 700", info.Mode().Perm(), folder.Mode().Perm())
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner == 0 {
		t.Error("the daemon runs as root")
	}

	system.sh(page.upgrade)
	eventually(t, system, "the daemon is up again", func() bool {
		return strings.Count(system.log(), "Claims table loaded") == 2
	})
	if again := claimID(t, system); again != claim {
		t.Errorf("after a restart the Pod's claim is %s; it was %s", again, claim)
	}
	system.sh(page.remove)
	if result := system.do("systemctl", "show", "--property=Result", "--value", "vk-sandbox.service"); strings.TrimSpace(result) != "success" {
		t.Errorf("the service ended with %q, not success", result)
	}
	if _, err := os.Stat(system.path("/usr/bin/vk-sandbox")); !os.IsNotExist(err) {
		t.Errorf("the removed program: %v", err)
	}
	if again := claimID(t, system); again != claim {
		t.Errorf("the table of the removed daemon has the claim %s; it was %s", again, claim)
	}
	if made := sandboxd.History(history.Filter{}).Counters.Claimed; made != 1 {
		t.Errorf("%d claims were made for one Pod", made)
	}
}

// source is the project's folder on the host.
const source = "/src"

// hostFolder returns a host's files at the start of the page: the project's folder with
// the built daemon.
func hostFolder(t *testing.T) string {
	t.Helper()
	host := t.TempDir()
	write(t, filepath.Join(host, source, "bin/vk-sandbox"), read(t, *binary), 0o755)
	packaging := filepath.Join(host, source, "packaging")
	if err := os.CopyFS(packaging, os.DirFS(filepath.Join(root(t), "packaging"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(host, "etc/hostname"), []byte("host-07\n"), 0o644)
	// Only the test needs these: a target without anything, and the log as a file.
	write(t, filepath.Join(host, "usr/lib/systemd/system/boot.target"), []byte("[Unit]\nDefaultDependencies=no\n"), 0o644)
	write(t, filepath.Join(host, "etc/systemd/system/vk-sandbox.service.d/log.conf"),
		[]byte("[Service]\nStandardOutput=append:/vk-sandbox.log\nStandardError=append:/vk-sandbox.log\n"), 0o644)
	return host
}

// settings writes the administrator's files to the host.
func settings(t *testing.T, system *system, apiURL, sandboxdURL string) {
	t.Helper()
	admin := clientcmdapi.NewConfig()
	admin.Clusters["test"] = &clientcmdapi.Cluster{Server: apiURL}
	admin.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
	admin.CurrentContext = "test"
	kubeconfig, err := clientcmd.Write(*admin)
	if err != nil {
		t.Fatal(err)
	}
	write(t, system.path("/etc/vk-sandbox/kubeconfig"), kubeconfig, 0o600)
	write(t, system.path("/etc/vk-sandbox/sandboxd-token"), []byte(rootToken+"\n"), 0o600)
	file := system.path("/etc/vk-sandbox/vk-sandbox.env")
	env := string(read(t, file))
	// Free ports of the machine; all other settings are the template's.
	for name, value := range map[string]string{
		"SANDBOXD_URL": sandboxdURL, "SANDBOXD_TOKEN_FILE": "/etc/vk-sandbox/sandboxd-token",
		"VK_LISTEN_ADDR": "127.0.0.1:0", "VK_METRICS_ADDR": "127.0.0.1:0", "VK_SANDBOX_ARGS": "--orphan-scan-interval=1m --disable-pod-events",
	} {
		line := "\n#" + name + "="
		before, after, found := strings.Cut(env, line)
		if !found {
			t.Fatalf("vk-sandbox.env has no line %q", line)
		}
		_, after, _ = strings.Cut(after, "\n")
		env = before + "\n" + name + "=" + value + "\n" + after
	}
	write(t, file, []byte(env), 0o644)
}

func createPod(t *testing.T, api *kubeapi.Server) {
	t.Helper()
	pod := map[string]any{}
	if err := yaml.Unmarshal(read(t, filepath.Join(root(t), "examples/pod.yaml")), &pod); err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: pod}
	if err := unstructured.SetNestedField(object.Object, "host-07-sandboxd", "spec", "nodeName"); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Create(kubeapi.Pods, object); err != nil {
		t.Fatal(err)
	}
}

func claimID(t *testing.T, s *system) string {
	t.Helper()
	var table struct {
		Claims map[string]struct{ ID string }
	}
	if err := json.Unmarshal(read(t, s.path(stateFile)), &table); err != nil {
		t.Fatal(err)
	}
	if table.Claims[podKey].ID == "" {
		t.Fatalf("the claims table has no claim of %s", podKey)
	}
	return table.Claims[podKey].ID
}

func eventually(t *testing.T, s *system, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s\n--- systemd\n%s--- daemon\n%s", what, s.output.String(), s.log())
		}
	}
}
