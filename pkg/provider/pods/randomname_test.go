// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/storage/names"
)

func namedPod(generateName, name, apiVersion, kind string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: generateName, Name: name}}
	if kind != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "web", UID: "owner", Controller: new(true)}}
	}
	return pod
}

func TestRandomName(t *testing.T) {
	long := strings.Repeat("a", maxGeneratedPrefix)
	for name, tc := range map[string]struct {
		generateName, name, apiVersion, kind string
		want                                 bool
	}{
		"a ReplicaSet":                       {"web-5d4f-", "web-5d4f-x2b4k", "apps/v1", "ReplicaSet", true},
		"a ReplicaSet of a retired version":  {"web-", "web-x2b4k", "apps/v1beta2", "ReplicaSet", true},
		"a ReplicationController":            {"web-", "web-x2b4k", "v1", "ReplicationController", true},
		"a DaemonSet":                        {"web-", "web-x2b4k", "apps/v1", "DaemonSet", true},
		"a Job":                              {"job-", "job-x2b4k", "batch/v1", "Job", true},
		"an indexed Job":                     {"job-3-", "job-3-x2b4k", "batch/v1", "Job", true},
		"a prefix that is cut":               {long + "bc-", long + "x2b4k", "apps/v1", "ReplicaSet", true},
		"a bare Pod":                         {"web-", "web-x2b4k", "", "", false},
		"a StatefulSet":                      {"web-", "web-x2b4k", "apps/v1", "StatefulSet", false},
		"a Sandbox":                          {"web-", "web-x2b4k", "agents.x-k8s.io/v1beta1", "Sandbox", false},
		"a Node, of a static Pod":            {"web-", "web-x2b4k", "v1", "Node", false},
		"a kind that may give a name again":  {"web-", "web-x2b4k", "apps.kruise.io/v1alpha1", "CloneSet", false},
		"another group's ReplicaSet":         {"web-", "web-x2b4k", "example.com/v1", "ReplicaSet", false},
		"a malformed apiVersion":             {"web-", "web-x2b4k", "a/b/c", "ReplicaSet", false},
		"no generateName":                    {"", "web-x2b4k", "apps/v1", "ReplicaSet", false},
		"another name":                       {"web-", "app-x2b4k", "apps/v1", "ReplicaSet", false},
		"the prefix alone":                   {"web-", "web-", "apps/v1", "ReplicaSet", false},
		"an ordinal":                         {"web-", "web-0", "apps/v1", "ReplicaSet", false},
		"an ordinal that could be random":    {"web-", "web-24567", "apps/v1", "ReplicaSet", false},
		"four characters":                    {"web-", "web-x2b4", "apps/v1", "ReplicaSet", false},
		"six characters":                     {"web-", "web-x2b4kb", "apps/v1", "ReplicaSet", false},
		"a character that is never made":     {"web-", "web-x2b4a", "apps/v1", "ReplicaSet", false},
		"a digit that is never made":         {"web-", "web-x2b40", "apps/v1", "ReplicaSet", false},
		"a long prefix that is not cut":      {long + "bc-", long + "bc-x2b4k", "apps/v1", "ReplicaSet", false},
		"a separator among the last letters": {"web-", "web-x2-4k", "apps/v1", "ReplicaSet", false},
	} {
		if got := HolderOf(namedPod(tc.generateName, tc.name, tc.apiVersion, tc.kind)).RandomName; got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The names are those of the API server's own generator.
func TestRandomNameOfTheAPIServer(t *testing.T) {
	for _, prefix := range []string{"web-", strings.Repeat("a", names.MaxGeneratedNameLength-1) + "-", strings.Repeat("b", 2*names.MaxGeneratedNameLength)} {
		digits := 0
		for range 1000 {
			name := names.SimpleNameGenerator.GenerateName(prefix)
			if strings.Trim(name[len(name)-randomLength:], randomDigits) == "" {
				digits++
				continue
			}
			if !HolderOf(namedPod(prefix, name, "apps/v1", "ReplicaSet")).RandomName {
				t.Errorf("%s is not random", name)
			}
		}
		if digits > 100 {
			t.Errorf("%d of 1000 names end in digits only", digits)
		}
	}
}
