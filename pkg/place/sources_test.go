// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

const machineID = "8f3c0e0b6c0d4b0f9a51c2f7f1a0d3e4"

// The host's id is fixed for a machine id, differs between two, and does not show
// the machine id, which is confidential.
func TestHostID(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		file := filepath.Join(dir, "machine-id")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	// This value is in tables: changing it would lock every daemon out of its own.
	const want = "87199ee5-3b46-45b6-a3e5-5b5a9e299c05"
	for name, tc := range map[string]struct{ file, want string }{
		"no file name": {"", ""}, "missing": {filepath.Join(dir, "absent"), ""},
	} {
		if got, err := place.HostID(tc.file); err != nil || got != tc.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "", " \n": "", "uninitialized\n": "", machineID: want, machineID + "\n": want,
	} {
		if got, err := place.HostID(write(text)); err != nil || got != want {
			t.Errorf("machine id %q: %q, %v; want %q", text, got, err, want)
		}
	}
	other, err := place.HostID(write(strings.Repeat("0", 32)))
	if err != nil || other == want || !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(other) {
		t.Errorf("another machine's id %q, %v", other, err)
	}
	if strings.Contains(strings.ReplaceAll(want, "-", ""), machineID[:8]) {
		t.Errorf("%s shows the machine id", want)
	}
	if got, err := place.HostID(dir); err == nil {
		t.Errorf("a directory is taken for the machine id: %q", got)
	}
}

func TestClusterUID(t *testing.T) {
	named := func(name string, uid types.UID) runtime.Object {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: uid}}
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, "kube-system", errors.New("no"))
	for name, tc := range map[string]struct {
		object runtime.Object
		err    error
		says   string
	}{
		"there":            {object: named("kube-system", "UID")},
		"another name":     {object: named("default", "UID"), says: "not that namespace"},
		"no UID":           {object: named("kube-system", ""), says: "no UID"},
		"forbidden":        {err: forbidden, says: "grant this account get on the namespace kube-system"},
		"unavailable":      {err: apierrors.NewServiceUnavailable("no"), says: "read the cluster's identity"},
		"no such resource": {err: apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "kube-system"), says: "read the cluster's identity"},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) { return true, tc.object, tc.err })
			uid, err := place.NewCluster(client.CoreV1()).UID(t.Context())
			if tc.says == "" {
				if uid != "UID" || err != nil {
					t.Errorf("UID = %q, %v", uid, err)
				}
				return
			}
			if uid != "" || err == nil || !strings.Contains(err.Error(), tc.says) || tc.err != nil && !errors.Is(err, tc.err) {
				t.Errorf("UID = %q, %v; want an error with %q", uid, err, tc.says)
			}
		})
	}
}
