// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const image = "ghcr.io/cocoonstack/sandbox/rt:24.04"

// podWith is a Pod with the template annotation and what changes say; a nil
// value takes an annotation away.
func podWith(changes map[string]*string) *corev1.Pod {
	annotations := map[string]string{podcontract.AnnotationTemplate: image}
	for key, value := range changes {
		delete(annotations, key)
		if value != nil {
			annotations[key] = *value
		}
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-red", Name: "notebook-a", Annotations: annotations}}
}

func set(key, value string) map[string]*string { return map[string]*string{key: &value} }

// The keys and values are fixed letter by letter: templates in clusters carry them.
func TestContractNames(t *testing.T) {
	for _, c := range [][2]string{
		{podcontract.AnnotationRuntime, "sandbox.cocoonstack.io/runtime"},
		{podcontract.AnnotationTemplate, "sandbox.cocoonstack.io/template"},
		{podcontract.AnnotationNet, "sandbox.cocoonstack.io/net"},
		{podcontract.AnnotationSize, "sandbox.cocoonstack.io/size"},
		{podcontract.AnnotationTTLSeconds, "sandbox.cocoonstack.io/ttl-seconds"},
		{podcontract.AnnotationClaimID, "sandbox.cocoonstack.io/claim-id"},
		{podcontract.RuntimeSandboxd, "sandboxd"},
		{podcontract.LabelRuntime, "sandbox.cocoonstack.io/runtime"},
		{podcontract.TaintKey, "virtual-kubelet.io/provider"},
		{podcontract.TaintValue, "sandboxd"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
}

func TestClaimRequest(t *testing.T) {
	want := func(change func(*sandboxd.ClaimRequest)) sandboxd.ClaimRequest {
		r := sandboxd.ClaimRequest{Template: image, TTLSeconds: 86400, ClaimRef: "team-red/notebook-a"}
		if change != nil {
			change(&r)
		}
		return r
	}
	ttl := func(n int64) sandboxd.ClaimRequest {
		return want(func(r *sandboxd.ClaimRequest) { r.TTLSeconds = n })
	}
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want sandboxd.ClaimRequest
	}{
		{"template only", podWith(nil), want(nil)},
		{"runtime sandboxd", podWith(set(podcontract.AnnotationRuntime, "sandboxd")), want(nil)},
		{"net", podWith(set(podcontract.AnnotationNet, "lane-1")), want(func(r *sandboxd.ClaimRequest) { r.Net = "lane-1" })},
		{"net empty", podWith(set(podcontract.AnnotationNet, "")), want(nil)},
		{"size", podWith(set(podcontract.AnnotationSize, "large")), want(func(r *sandboxd.ClaimRequest) { r.Size = "large" })},
		{"size empty", podWith(set(podcontract.AnnotationSize, "")), want(nil)},
		// Which axes exist is sandboxd's to say.
		{"size that no pool has", podWith(set(podcontract.AnnotationSize, "enormous")), want(func(r *sandboxd.ClaimRequest) { r.Size = "enormous" })},
		{"claim id of an older pod", podWith(set(podcontract.AnnotationClaimID, "sb_old")), want(nil)},
		{"ttl", podWith(set(podcontract.AnnotationTTLSeconds, "3600")), ttl(3600)},
		{"ttl 0 is sandboxd's default", podWith(set(podcontract.AnnotationTTLSeconds, "0")), ttl(0)},
		{"ttl over a day is sandboxd's to cap", podWith(set(podcontract.AnnotationTTLSeconds, "604800")), ttl(604800)},
		{"ttl as long as an integer goes", podWith(set(podcontract.AnnotationTTLSeconds, "9223372036854775807")), ttl(9223372036854775807)},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := maps.Clone(c.pod.Annotations)
			got, err := podcontract.ClaimRequest(c.pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, c.pod.Annotations); diff != "" {
				t.Errorf("the Pod was changed:\n%s", diff)
			}
		})
	}
}

func TestInvalidPods(t *testing.T) {
	const (
		template = "annotation sandbox.cocoonstack.io/template: missing; it names the sandboxd template and has no default"
		ttl      = " is not a lease; want a whole number of seconds, 0 or more"
		runtime  = ` is not served by this node; it serves "sandboxd" only`
	)
	long := strings.Repeat("x", 64<<10)
	bounded := `"` + long[:64] + `"…`
	for _, c := range []struct {
		name, key string
		value     *string
		want      string
	}{
		{"template absent", podcontract.AnnotationTemplate, nil, template},
		{"template empty", podcontract.AnnotationTemplate, new(""), template},
		{"runtime empty", podcontract.AnnotationRuntime, new(""), `""` + runtime},
		{"runtime of another provider", podcontract.AnnotationRuntime, new("cocoon"), `"cocoon"` + runtime},
		{"runtime in capitals", podcontract.AnnotationRuntime, new("Sandboxd"), `"Sandboxd"` + runtime},
		{"runtime with a space", podcontract.AnnotationRuntime, new("sandboxd "), `"sandboxd "` + runtime},
		{"runtime of 64 KiB", podcontract.AnnotationRuntime, &long, bounded + runtime},
		{"ttl empty", podcontract.AnnotationTTLSeconds, new(""), `""` + ttl},
		{"ttl negative", podcontract.AnnotationTTLSeconds, new("-1"), `"-1"` + ttl},
		{"ttl with a fraction", podcontract.AnnotationTTLSeconds, new("3600.0"), `"3600.0"` + ttl},
		{"ttl with an exponent", podcontract.AnnotationTTLSeconds, new("1e3"), `"1e3"` + ttl},
		{"ttl with a unit", podcontract.AnnotationTTLSeconds, new("1h"), `"1h"` + ttl},
		{"ttl in hexadecimal", podcontract.AnnotationTTLSeconds, new("0x10"), `"0x10"` + ttl},
		{"ttl with an underscore", podcontract.AnnotationTTLSeconds, new("86_400"), `"86_400"` + ttl},
		{"ttl with a space", podcontract.AnnotationTTLSeconds, new(" 3600"), `" 3600"` + ttl},
		{"ttl with a new line", podcontract.AnnotationTTLSeconds, new("3600\n"), `"3600\n"` + ttl},
		{"ttl too large", podcontract.AnnotationTTLSeconds, new("9223372036854775808"), `"9223372036854775808"` + ttl},
		{"ttl of 64 KiB", podcontract.AnnotationTTLSeconds, &long, bounded + ttl},
		{"ttl of 64 KiB of digits", podcontract.AnnotationTTLSeconds, new(strings.Repeat("9", 64<<10)), `"` + strings.Repeat("9", 64) + `"…` + ttl},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := podcontract.ClaimRequest(podWith(map[string]*string{c.key: c.value}))
			var invalid *podcontract.InvalidAnnotationError
			if !errors.As(err, &invalid) || invalid.Annotation != c.key || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant one about %s that ends with %s", err, c.key, c.want)
			}
			if got != (sandboxd.ClaimRequest{}) {
				t.Errorf("request %+v beside the error, want none", got)
			}
		})
	}
}

func TestKey(t *testing.T) {
	if got := podcontract.Key(podWith(nil)); got != "team-red/notebook-a" {
		t.Errorf("key %q", got)
	}
}

func TestPodWithoutAnnotations(t *testing.T) {
	_, err := podcontract.ClaimRequest(&corev1.Pod{})
	var invalid *podcontract.InvalidAnnotationError
	if !errors.As(err, &invalid) || invalid.Annotation != podcontract.AnnotationTemplate {
		t.Errorf("error %v, want one about the template", err)
	}
}

func TestCheckRuntime(t *testing.T) {
	for name, c := range map[string]struct {
		pod *corev1.Pod
		ok  bool
	}{
		"absent": {podWith(nil), true}, "sandboxd": {podWith(set(podcontract.AnnotationRuntime, "sandboxd")), true},
		"other": {podWith(set(podcontract.AnnotationRuntime, "cocoon")), false}, "empty": {podWith(set(podcontract.AnnotationRuntime, "")), false},
	} {
		if err := podcontract.CheckRuntime(c.pod); (err == nil) != c.ok {
			t.Errorf("%s: error %v, want served: %v", name, err, c.ok)
		}
	}
}

// For a Pod of another runtime the error names the runtime, not other missing
// annotations.
func TestRuntimeComesFirst(t *testing.T) {
	pod := podWith(map[string]*string{podcontract.AnnotationRuntime: new("cocoon"), podcontract.AnnotationTemplate: nil, podcontract.AnnotationTTLSeconds: new("x")})
	_, err := podcontract.ClaimRequest(pod)
	var invalid *podcontract.InvalidAnnotationError
	if !errors.As(err, &invalid) || invalid.Annotation != podcontract.AnnotationRuntime {
		t.Errorf("error %v, want one about the runtime", err)
	}
}

func FuzzClaimRequest(f *testing.F) {
	for _, seed := range [][5]string{
		{"sandboxd", image, "none", "small", "86400"}, {"", "", "", "", ""}, {"cocoon", image, "", "", "-1"}, {"sandboxd", "\xff\x00", "\n", "é", "0"},
		{"sandboxd", image, "", "", "+5"}, {"sandboxd", image, "", "", "9223372036854775808"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, runtime, template, net, size, ttl string) {
		pod := podWith(map[string]*string{
			podcontract.AnnotationRuntime: &runtime, podcontract.AnnotationTemplate: &template,
			podcontract.AnnotationNet: &net, podcontract.AnnotationSize: &size, podcontract.AnnotationTTLSeconds: &ttl,
		})
		got, err := podcontract.ClaimRequest(pod)
		if err != nil {
			var invalid *podcontract.InvalidAnnotationError
			if !errors.As(err, &invalid) || len(err.Error()) > 1024 || got != (sandboxd.ClaimRequest{}) {
				t.Errorf("error %T of %d bytes, request %+v", err, len(err.Error()), got)
			}
			return
		}
		if runtime != "sandboxd" || template == "" || ttl == "" || got.TTLSeconds < 0 {
			t.Errorf("runtime %q, template %q, ttl %q give %+v", runtime, template, ttl, got)
		}
		if got.Template != template || got.Net != net || got.Size != size || got.ClaimRef != "team-red/notebook-a" {
			t.Errorf("request %+v, want the annotations verbatim", got)
		}
	})
}
