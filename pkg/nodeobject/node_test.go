// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReadNode(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		says string
	}{
		"there":          {},
		"not registered": {err: apierrors.NewNotFound(corev1.Resource("nodes"), "host-1-sandboxd"), says: "not registered yet"},
		"not watched":    {err: errors.New("no watch"), says: "look up the Node: no watch"},
	} {
		t.Run(name, func(t *testing.T) {
			node, err := ReadNode(func() (*corev1.Node, error) {
				return &corev1.Node{ObjectMeta: metav1.ObjectMeta{UID: "a"}}, test.err
			})
			switch {
			case test.err == nil && (err != nil || Owner(node).UID == nil || *Owner(node).UID != "a"):
				t.Errorf("node %v, error %v", node, err)
			case test.err != nil && (!errors.Is(err, test.err) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("error %v does not say %q", err, test.says)
			}
		})
	}
}

func TestCheckConfig(t *testing.T) {
	if err := CheckConfig("host-1-sandboxd", "publish interval", time.Second); err != nil {
		t.Error(err)
	}
	err := CheckConfig("Host_1", "publish interval", 0)
	for _, want := range []string{`node name "Host_1"`, "publish interval 0s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestFit(t *testing.T) {
	items := []string{"a", "bb", "ccc"} // 3, 4 and 5 bytes as JSON
	empty, err := Size([]string{})
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]int{empty: 0, empty + 2: 0, empty + 3: 1, empty + 7: 1, empty + 8: 2, empty + 13: 2, empty + 14: 3, 100: 3} {
		n, err := Fit(empty, items, limit)
		if err != nil || n != want {
			t.Errorf("%d items fit into %d bytes (%v), want %d", n, limit, err, want)
		}
		if size, _ := Size(items[:n]); size > limit {
			t.Errorf("%d items are %d bytes, over the limit of %d", n, size, limit)
		}
	}
}
