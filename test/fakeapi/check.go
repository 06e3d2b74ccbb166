// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	etcdLimit   = 3 << 19   // bytes in a request, by default
	annotations = 256 << 10 // what an API server lets others add
)

// CheckSize checks that etcd can store the object with its managedFields and the
// annotations that other clients may add.
func CheckSize(t *testing.T, object any) {
	t.Helper()
	encoded, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes with managedFields", len(encoded))
	if len(encoded)+annotations > etcdLimit {
		t.Errorf("%d bytes and the annotations of others do not fit into %d", len(encoded), etcdLimit)
	}
}

// CheckCadence checks the minimum and maximum time between consecutive applies, and that
// the times differ.
func CheckCadence(t *testing.T, applied []time.Time, least, most time.Duration) {
	t.Helper()
	gaps := map[time.Duration]bool{}
	for i, at := range applied[1:] {
		gap := at.Sub(applied[i])
		gaps[gap] = true
		if gap < least || gap > most {
			t.Errorf("apply %d came %v after the one before, want %v to %v", i+1, gap, least, most)
		}
	}
	if len(gaps) < 2 {
		t.Error("no jitter: every gap is the same")
	}
}

// CheckWireShape compares a patch with the content of a file.
func CheckWireShape(t *testing.T, file string, patch []byte) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, patch, "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}

// CheckOwner checks that the Node with that UID is the object's only owner.
func CheckOwner(t *testing.T, object metav1.Object, uid types.UID, when string) {
	t.Helper()
	want := []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: NodeName, UID: uid}}
	if diff := cmp.Diff(want, object.GetOwnerReferences()); diff != "" {
		t.Errorf("owners %s (-want +got):\n%s", when, diff)
	}
}
