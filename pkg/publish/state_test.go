// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2/ktesting"
)

func testKind() Kind {
	return Kind{
		Name: "Thing", Plural: "things", Off: "turn things off", Logger: "things", Items: "items", MaxBytes: 9,
		Messages: Messages{
			Published: "published", Failed: "failed", Recovered: "recovered", Repaired: "repaired",
			Truncated: "truncated", Complete: "complete",
		},
	}
}

// Each step comes a second after the one before.
func TestAStateIsLoggedWhenItBegins(t *testing.T) {
	refused := func(port int) error {
		return Failed("apply", apierrors.NewForbidden(corev1.Resource("nodes"), fmt.Sprint("from port ", port), errors.New("no")), "")
	}
	complete, truncated := Publication{Items: 3, Total: 3}, Publication{Items: 2, Total: 5}
	repaired := Publication{Items: 3, Total: 3, Repaired: true}
	type step struct {
		name      string
		err       error
		published Publication
		want      []string
	}
	for name, steps := range map[string][]step{
		"failures first": {
			{name: "a failure before anything", err: refused(1), want: []string{"failed"}},
			{name: "the same in other words", err: refused(2)},
			{name: "another kind", err: Failed("read", errors.New("x"), ""), want: []string{"failed"}},
			{name: "the first success is an end", published: complete, want: []string{"recovered items=3 failedFor=3s"}},
			{name: "a success like the one before", published: complete},
			{name: "a failure anew", err: refused(3), want: []string{"failed"}},
			{name: "its end, with a repair", published: repaired, want: []string{"recovered items=3 failedFor=1s"}},
			{name: "an error that names no step", err: errors.New("x"), want: []string{"failed"}},
		},
		"a success first": {
			{name: "the first", published: complete, want: []string{"published items=3"}},
			{name: "too many", published: truncated, want: []string{"truncated items=2 total=5 leftOut=3 limitBytes=9"}},
			{name: "still too many", published: truncated},
			{name: "a failure meanwhile", err: refused(1), want: []string{"failed"}},
			{name: "still too many after it", published: truncated, want: []string{"recovered items=2 failedFor=1s"}},
			{name: "all again", published: complete, want: []string{"complete items=3"}},
			{name: "a repair", published: repaired, want: []string{"repaired items=3"}},
			{name: "each repair is another", published: repaired, want: []string{"repaired items=3"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s state
			logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
			logs, seen := logger.GetSink().(ktesting.Underlier).GetBuffer(), 0
			now := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
			for _, step := range steps {
				if step.err != nil {
					s.failed(logger, testKind(), now, step.err)
				} else {
					s.succeeded(logger, testKind(), now, step.published)
				}
				var got []string
				for _, entry := range logs.Data()[seen:] {
					line := entry.Message
					for i := 0; i < len(entry.ParameterKVList); i += 2 {
						line += fmt.Sprintf(" %v=%v", entry.ParameterKVList[i], entry.ParameterKVList[i+1])
					}
					got = append(got, line)
				}
				if diff := cmp.Diff(step.want, got); diff != "" {
					t.Errorf("%s: log (-want +got):\n%s", step.name, diff)
				}
				seen, now = len(logs.Data()), now.Add(time.Second)
			}
		})
	}
}

func TestApplyFailuresSayWhatToDo(t *testing.T) {
	things := corev1.Resource("things")
	for want, err := range map[string]error{
		"apply: no answer": errors.New("no answer"),
		`apply: things "a" not found (install the Thing CRD, or turn things off)`:                                                  apierrors.NewNotFound(things, "a"),
		`apply: things "a" is forbidden: no (the service account needs create and patch on things)`:                                apierrors.NewForbidden(things, "a", errors.New("no")),
		"apply: .x: field not declared in schema (the installed Thing CRD is of another version; install the one of this release)": errors.New(".x: field not declared in schema"),
	} {
		got := testKind().ApplyFailure("apply", err)
		if got.Error() != want || !errors.Is(got, err) {
			t.Errorf("failure %q, want %q", got, want)
		}
	}
}
