// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

// TestCheckErrors: whatever is wrong is an exit code, and a text that says what.
func TestCheckErrors(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no template":    {nil, program.ExitUsage, "--template is missing"},
		"unknown flag":   {[]string{"--state-path=x"}, program.ExitUsage, "vk-sandbox check --help"},
		"an argument":    {[]string{"--template=a", "all"}, program.ExitUsage, `"all"`},
		"bad namespace":  {[]string{"--template=a", "--namespace=A"}, program.ExitUsage, "--namespace"},
		"bad selector":   {[]string{"--template=a", "--node-selector=type"}, program.ExitUsage, "--node-selector"},
		"bad owner":      {[]string{"--template=a", "--owner-pod=test"}, program.ExitUsage, "--owner-pod"},
		"no time":        {[]string{"--template=a", "--timeout=0"}, program.ExitUsage, "--timeout"},
		"too much time":  {[]string{"--template=a", "--timeout=2h"}, program.ExitError, "at most 1h0m0s"},
		"every node":     {[]string{"--template=a", "--node-selector="}, program.ExitError, "ordinary nodes"},
		"nobody answers": {[]string{"--template=a", "--timeout=1ms"}, program.ExitError, "no Ready virtual node of every host"},
	} {
		t.Run(name, func(t *testing.T) {
			vars := map[string]string{"KUBECONFIG": writeKubeconfig(t, t.TempDir())}
			var stdout, stderr bytes.Buffer
			if code := execute(append([]string{"check"}, tc.args...), environment(vars), &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(stderr.String(), tc.says) {
				t.Errorf("complained %q, want %q in it", &stderr, tc.says)
			}
		})
	}
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"check", "--template=a"}, environment(nil), &stdout, &stderr); code != program.ExitError || !strings.Contains(stderr.String(), "KUBECONFIG is not set") {
		t.Errorf("without a cluster: exit code %d, complained %q", code, &stderr)
	}
}

func TestCheckHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"check", "--help"}, environment(nil), &stdout, &stderr); code != program.ExitOK || stderr.Len() > 0 {
		t.Errorf("exit code %d, complained %q", code, &stderr)
	}
	for _, s := range settings((&checkOptions{}).flags()) {
		if !strings.Contains(stdout.String(), "--"+s.flag) {
			t.Errorf("--%s is not in the help", s.flag)
		}
	}
	if !strings.Contains(usage(t), "check ") {
		t.Error("the program's help does not name the command")
	}
}

// The check's advice names the command's flags, and the chart's values.
func TestCheckAdviceNamesTheFlags(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	o := checkOptions{ownerPod: "test/uid-1", claimStatus: true}
	c, err := o.config(environment(map[string]string{"KUBECONFIG": writeKubeconfig(t, t.TempDir())}), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"--template", "--net", "--size", "test.template"} {
		if !strings.Contains(c.AxesHint, want) {
			t.Errorf("hint %q lacks %s", c.AxesHint, want)
		}
	}
	if !strings.Contains(c.StatusHint, "--claim-status=false") || !strings.Contains(c.StatusHint, "--claim-status-interval=0") {
		t.Errorf("hint %q", c.StatusHint)
	}
	if c.Owner == nil || c.Owner.Name != "test" || c.Owner.UID != "uid-1" || c.Statuses == nil {
		t.Errorf("check %+v", c)
	}
}

// TestCheckAsks: the flags decide what is asked for, and the API server's logs
// tell the check from a daemon.
func TestCheckAsks(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		program, _, _ := strings.Cut(r.UserAgent(), "/")
		if request := program + " " + r.URL.RequestURI(); !slices.Contains(asked, request) {
			asked = append(asked, request)
		}
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(r.URL.Path, "daemonsets") {
			fmt.Fprint(w, `{"kind":"DaemonSet","apiVersion":"apps/v1","status":{"desiredNumberScheduled":1,"numberReady":1}}`)
			return
		}
		fmt.Fprint(w, `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"vm-1"}}]}`)
	}))
	t.Cleanup(server.Close)
	kubeconfig, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{"server": server.URL}}},
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := []string{"check", "--template=a", "--namespace=vm", "--daemonset=blue", "--node-selector=pool=blue", "--timeout=1s"}
	if code := execute(args, environment(map[string]string{"KUBECONFIG": path}), &stdout, &stderr); code != program.ExitError {
		t.Errorf("exit code %d", code)
	}
	want := []string{
		"vk-sandbox-check /apis/apps/v1/namespaces/vm/daemonsets/blue",
		"vk-sandbox-check /api/v1/nodes?labelSelector=pool%3Dblue",
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if !strings.Contains(stderr.String(), "vm-1 is not Ready") {
		t.Errorf("complained %q", &stderr)
	}
}
