// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

const registered = "v1beta1.agents.x-k8s.io"

var (
	service    = map[string]any{"namespace": "sandbox-system", "name": "apiserver"}
	aggregated = verdict{false, ownership.Unverifiable, "the owner's API is served by an aggregated API server, whose answers prove nothing about stored objects", true}
	unserved   = verdict{false, ownership.Unverifiable, "owner could not be verified: its API group and version is not registered", true}
	unread2    = verdict{false, ownership.Unreadable, "owner could not be verified: the APIService of its group and version could not be read", true}
	tooNew     = verdict{false, ownership.Unverifiable, "owner could not be verified yet: its API was registered anew a moment ago", true}
)

// releasing are the owners whose answers would release, and what they give where
// the API server itself answered.
func releasing() map[string]struct {
	owner *unstructured.Unstructured
	want  verdict
} {
	other := func(u *unstructured.Unstructured) { u.SetUID("U2") }
	return map[string]struct {
		owner *unstructured.Unstructured
		want  verdict
	}{
		"gone":     {nil, gone("owner")},
		"replaced": {sandbox(other), replaced("owner")},
		"deleting": {sandbox(deleting), leaving("owner")},
		"expired":  {sandbox(conditions(ready("False", "SandboxExpired", 3))), ownerExpired},
	}
}

// No answer of an aggregated API server releases, whatever it says; and neither
// does one whose origin is not known.
func TestWhoAnsweredAboutTheOwner(t *testing.T) {
	resource := schema.GroupResource{Group: "apiregistration.k8s.io", Resource: "apiservices"}
	for name, c := range map[string]struct {
		registration *unstructured.Unstructured
		err          error
		want         *verdict // nil: the verdict of a stored owner
	}{
		"local":                      {registration: apiService(registered, "1", nil)},
		"service":                    {registration: apiService(registered, "1", service), want: &aggregated},
		"service without a name":     {registration: apiService(registered, "1", map[string]any{}), want: &aggregated},
		"no APIService":              {err: apierrors.NewNotFound(resource, registered), want: &unserved},
		"no right":                   {err: apierrors.NewForbidden(resource, registered, errors.New("no")), want: &unread2},
		"no answer":                  {err: context.DeadlineExceeded, want: &unread2},
		"another object":             {registration: apiService("v1.example.com", "1", nil), want: &unread2},
		"object without a spec":      {registration: &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": registered}}}, want: &unread2},
		"made a moment ago":          {registration: aged(apiService(registered, "1", nil), time.Second), want: &tooNew},
		"made in the future":         {registration: aged(apiService(registered, "1", nil), -time.Hour), want: &tooNew},
		"made half a minute ago":     {registration: aged(apiService(registered, "1", nil), 31*time.Second)},
		"service, made long ago too": {registration: aged(apiService(registered, "1", service), time.Hour), want: &aggregated},
	} {
		for state, o := range releasing() {
			t.Run(name+", "+state, func(t *testing.T) {
				a, owners, _ := fakes(held(o.owner)...)
				owners.PrependReactor("get", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
					if c.err != nil {
						return true, nil, c.err
					}
					return true, c.registration, nil
				})
				want := o.want
				if c.want != nil {
					want = *c.want
				}
				for range 2 {
					want.check(t, a.Owner(t.Context(), "team-red", owner))
				}
			})
		}
		t.Run(name+", alive", func(t *testing.T) {
			a, owners, _ := fakes(sandbox(nil))
			owners.PrependReactor("get", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, c.registration, c.err
			})
			alive("owner").check(t, a.Owner(t.Context(), "team-red", owner))
		})
	}
}

func held(o *unstructured.Unstructured) []*unstructured.Unstructured {
	if o == nil {
		return nil
	}
	return []*unstructured.Unstructured{o}
}

func aged(u *unstructured.Unstructured, age time.Duration) *unstructured.Unstructured {
	u.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-age)))
	return u
}

// Bare Pods, and owners of the core group, are in etcd: nothing is asked.
func TestCoreGroupIsStored(t *testing.T) {
	a, owners, _ := fakes()
	gone("bare Pod").check(t, a.Pod(t.Context(), "team-red", "notebook-a", "U1"))
	gone("owner").check(t, a.Owner(t.Context(), "team-red", claims.Owner{APIVersion: "v1", Kind: "ReplicationController", Name: "notebook-a", UID: "U1"}))
	if got := len(owners.Actions()) - len(ownerActions(owners)); got != 0 {
		t.Errorf("%d reads of APIServices", got)
	}
}

// The APIService is read after the answer that it confirms: one that was made
// before the owner was read, or while it was, has answered.
func TestRegistrationChangesWhileTheOwnerIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		before, after *unstructured.Unstructured
		want          verdict
	}{
		"a service comes":         {apiService(registered, "1", nil), apiService(registered, "2", service), aggregated},
		"a service goes":          {apiService(registered, "1", service), apiService(registered, "2", nil), tooNew},
		"a service came and went": {apiService(registered, "1", nil), apiService(registered, "3", nil), tooNew},
		"nothing changed":         {apiService(registered, "1", nil), apiService(registered, "1", nil), gone("owner")},
	} {
		for _, known := range []bool{false, true} {
			a, owners, _ := fakes()
			register(owners, c.before)
			if known {
				a.Owner(t.Context(), "team-red", owner)
			}
			owners.PrependReactor("get", "sandboxes", func(clienttesting.Action) (bool, runtime.Object, error) {
				register(owners, c.after)
				return false, nil, nil
			})
			t.Run(name, func(t *testing.T) { c.want.check(t, a.Owner(t.Context(), "team-red", owner)) })
		}
	}
}

// An APIService that could not be read before the owner confirms nothing this
// time: it may have been another one.
func TestRegistrationUnreadBeforeTheOwner(t *testing.T) {
	a, owners, _ := fakes()
	fails := true
	owners.PrependReactor("get", "apiservices", func(clienttesting.Action) (bool, runtime.Object, error) {
		failed := fails
		fails = false
		return failed, nil, errors.New("no answer")
	})
	tooNew.check(t, a.Owner(t.Context(), "team-red", owner))
	gone("owner").check(t, a.Owner(t.Context(), "team-red", owner))
}

// Owners are read as before once the service is gone for a while, with no restart;
// the log says when it began and when it ended, and not how often it was asked.
func TestAggregationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(10)))
		ctx := klog.NewContext(t.Context(), logger)
		a, owners, _ := fakes()
		ask := func(want verdict) {
			t.Helper()
			for range 3 {
				want.check(t, a.Owner(ctx, "team-red", owner))
			}
		}
		ask(gone("owner"))
		register(owners, apiService(registered, "2", service))
		ask(aggregated)
		time.Sleep(time.Hour)
		ask(aggregated)
		if err := owners.Tracker().Delete(apiServices(), "", registered); err != nil {
			t.Fatal(err)
		}
		ask(unserved)
		register(owners, apiService(registered, "3", nil))
		ask(tooNew)
		time.Sleep(31 * time.Second)
		ask(gone("owner"))
		synctest.Wait()
		logs := logger.GetSink().(ktesting.Underlier).GetBuffer().String()
		if lines := strings.Count(logs, "\n"); lines != 2 || strings.Count(logs, "aggregated API server answers") != 1 || strings.Count(logs, "own storage again") != 1 {
			t.Errorf("want one line for the beginning and one for the end:\n%s", logs)
		}
	})
}

// Verdicts that are reached together share a read, but none uses one that began
// before its own owner had answered.
func TestVerdictsShareARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		var reads atomic.Int32
		a := authorizerOver(func(r *http.Request) (*http.Response, error) {
			a := failure(404, metav1.StatusReasonNotFound, details("notebook-a", "agents.x-k8s.io", "sandboxes"))
			if strings.HasPrefix(r.URL.Path, apiServicesPath) {
				a = asJSON(200, apiService(registered, "1", nil))
				switch reads.Add(1) {
				case 1: // before any owner is read
				case 2: // of the first verdict alone: it began before the others' owners answered
					<-proceed
				default:
					a = asJSON(200, apiService(registered, "2", service))
				}
			}
			return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
		}, sandboxMapper())
		var verdicts [21]ownership.Decision
		var all sync.WaitGroup
		all.Go(func() { verdicts[0] = a.Owner(context.Background(), "team-red", owner) })
		synctest.Wait()
		for i := range verdicts[1:] {
			all.Go(func() { verdicts[i+1] = a.Owner(context.Background(), "team-red", owner) })
		}
		synctest.Wait()
		close(proceed)
		all.Wait()
		gone("owner").check(t, verdicts[0])
		for _, d := range verdicts[1:] {
			aggregated.check(t, d)
		}
		if got := reads.Load(); got != 3 {
			t.Errorf("21 verdicts took %d reads, want 3", got)
		}
	})
}
