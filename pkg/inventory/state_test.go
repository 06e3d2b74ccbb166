// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

func TestAStateIsLoggedWhenItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		logs := h.start(t)
		cycles(20)
		// The text differs from cycle to cycle, the state does not.
		for port := range 10 {
			h.change(func() { h.sandboxd.listErr = fmt.Errorf("read from port %d: reset", port) })
			cycles(1)
		}
		h.change(func() {
			h.sandboxd.listErr = nil
			h.ApplyErr = apierrors.NewInternalError(errors.New("etcd has no leader"))
		})
		cycles(10)
		h.change(func() {
			h.ApplyErr = apierrors.NewForbidden(api.Resource("nodeinventories"), fakeapi.NodeName, errors.New("no right"))
		})
		cycles(10)
		h.change(func() { h.ApplyErr = nil })
		cycles(10)
		rows, _ := manyRows(5000, 63, 253)
		h.change(func() {
			h.sandboxd.rows = rows
			h.Discard = true // the merge of so large an object takes the fake long
		})
		cycles(3)
		h.change(func() { h.sandboxd.infoErr = errors.New("busy") })
		cycles(3)
		h.change(func() { h.sandboxd.infoErr = nil })
		cycles(3)
		h.change(func() { h.sandboxd.rows = rows[:10] })
		cycles(3)

		const not = "Inventory not published; the last published copy stays and the next cycle tries again: "
		want := []string{
			"Inventory published",
			not + "list the node's sandboxes: read from port 0: reset",
			not + "apply the inventory: Internal error occurred: etcd has no leader",
			not + `apply the inventory: nodeinventories.sandbox.cocoonstack.io "host-1-sandboxd" is forbidden: no right (the service account needs create and patch on nodeinventories)`,
			"Inventory is published again",
			"Inventory does not hold all sandboxes; the others run, and are left out to keep the object within its size limit",
			not + "read the node's pools: busy",
			"Inventory is published again",
			"Inventory holds all sandboxes again",
		}
		if diff := cmp.Diff(want, fakeapi.Messages(logs)); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

func TestFailuresSayWhatToDo(t *testing.T) {
	gone := apierrors.NewNotFound(api.Resource("nodeinventories"), fakeapi.NodeName)
	tests := []struct {
		name   string
		break_ func(*harness)
		says   string
	}{
		{"no Node", func(h *harness) { h.NodeErr = fakeapi.NoNode() }, "not registered yet"},
		{"no word of it", func(h *harness) { h.NodeErr = errors.New("no watch") }, "look up the Node: no watch"},
		{"no CRD", func(h *harness) { h.ApplyErr = gone }, "install the NodeInventory CRD"},
		{"another CRD", func(h *harness) {
			h.ApplyErr = apierrors.NewInternalError(errors.New("failed to create typed patch object: .totalWarm: field not declared in schema"))
		}, "CRD is of another version"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHarness()
			tt.break_(h)
			_, err := h.publisher(t).Publish(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v does not say %q", err, tt.says)
			}
		})
	}
}

func TestALocalAddressIsPointedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.config.AdvertiseAddr = "127.0.0.1:7777"
		logs := fakeapi.Messages(h.start(t))
		if len(logs) != 1 || !strings.Contains(logs[0], "on this host only") {
			t.Errorf("logged %q, want one line about it", logs)
		}
	})
}

func TestStoppingIsNotAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.sandboxd.hang = true
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
		ctx, cancel := context.WithTimeout(klog.NewContext(t.Context(), logger), publish.StartSpread+time.Second)
		defer cancel()
		if err := h.publisher(t).Run(ctx); err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}
		if logs := fakeapi.Messages(logger.GetSink().(ktesting.Underlier).GetBuffer()); len(logs) != 0 {
			t.Errorf("logged %q when it was stopped amid a cycle", logs)
		}
	})
}
