// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

func TestValidate(t *testing.T) {
	node := func() (*corev1.Node, error) { return nil, nil }
	good := Config{NodeName: "host-1-sandboxd", Interval: time.Second, Node: node}
	if err := good.Validate("publish interval", map[string]bool{"table": false}); err != nil {
		t.Error(err)
	}
	err := Config{NodeName: "Host_1"}.Validate("publish interval", map[string]bool{"table": true, "client": true, "claims": false})
	if err == nil {
		t.Fatal("accepted")
	}
	want := []string{`node name "Host_1"`, "publish interval 0s", "no node given", "no client given", "no table given"}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d problems, want %d: %v", len(lines), len(want), err)
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("problem %d is %q, want %q in it", i, line, want[i])
		}
	}
}
