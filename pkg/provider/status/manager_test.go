// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// rows is a table in memory.
type rows map[string]claims.Claim

func (r rows) Get(key string) (claims.Claim, bool) {
	c, ok := r[key]
	return c, ok
}

func newServed() *pods.Manager {
	_, lister := fakes.PodCache()
	return pods.NewManager(lister)
}

func TestPublishWhatTheAPIDoesNotShow(t *testing.T) {
	var published []string
	shown := ""
	served := newServed()
	m := NewManager(rows{}, served, func(pod *corev1.Pod) bool { return pod.Status.Message == shown })
	pod := fakes.NewPod("one", "uid-1", "")
	key := podcontract.Key(pod)
	m.publishPod(key) // neither the Pod nor the callback is known
	served.Track(pod)
	m.publishPod(key)
	m.PublishTo(func(pod *corev1.Pod) { published = append(published, pod.Status.Message) })
	m.publishPod(key) // there is no status yet
	for _, step := range []struct{ shown, status string }{
		{"first", "first"}, // as after a restart
		{"first", "second"},
		{"first", "first"}, // the second may follow yet
	} {
		shown = step.shown
		served.MarkWaiting(key, step.status)
		m.publishPod(key)
	}
	if want := []string{"second", "first"}; !slices.Equal(published, want) {
		t.Errorf("published %q, want %q", published, want)
	}
}

func TestRunPublishesTheStatusOfTheMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, served := rows{}, newServed()
		m := NewManager(table, served, func(*corev1.Pod) bool { return false })
		var published []*corev1.Pod
		m.PublishTo(func(pod *corev1.Pod) { published = append(published, pod) })
		pod := fakes.NewPod("a", "P1", "")
		served.Track(pod)
		m.Enqueue("agents/a")
		m.Enqueue("agents/a")
		if got := m.QueueLen(); got != 1 {
			t.Errorf("%d Pods wait, want 1", got)
		}
		table["agents/a"] = claims.Claim{Key: "agents/a", Row: claims.Row{ID: "sb_1", PodUID: "P1"}, State: claims.Bound, Durable: true}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { m.Run(ctx); close(done) }()
		synctest.Wait()
		cancel()
		<-done
		if len(published) != 1 || published[0].Status.Phase != corev1.PodRunning || len(published[0].Spec.Containers) > 0 {
			t.Fatalf("published %d statuses: %v", len(published), published)
		}
		if got := published[0].Annotations[podcontract.AnnotationClaimID]; got != "sb_1" || pod.Annotations[podcontract.AnnotationClaimID] != "" {
			t.Errorf("the claim id is %q, and that of the cached Pod %q", got, pod.Annotations[podcontract.AnnotationClaimID])
		}
		if tracked, _ := served.Get("agents/a"); !tracked.Notified {
			t.Error("the Pod is not marked as notified")
		}
	})
}

func TestWhichStatusAPodHas(t *testing.T) {
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	claim := func(state claims.State, durable bool) *claims.Claim {
		return &claims.Claim{Row: claims.Row{ID: "sb_1", PodUID: "P1"}, State: state, Durable: durable}
	}
	ended := &pods.Ending{Binding: podstatus.Binding{ClaimID: "sb_0"}, Reason: podstatus.ReasonLost, At: at}
	for name, tc := range map[string]struct {
		claim   *claims.Claim
		end     *pods.Ending
		waiting string
		shown   bool // the Pod is published with a claim
		phase   corev1.PodPhase
		message string
		id      string
	}{
		"no claim":                    {nil, nil, "", false, corev1.PodPending, "", ""},
		"bound":                       {claim(claims.Bound, true), nil, "", false, corev1.PodRunning, "", "sb_1"},
		"bound, not in the file":      {claim(claims.Bound, false), nil, "", false, corev1.PodPending, "", ""},
		"tentative":                   {claim(claims.Tentative, false), nil, "", false, corev1.PodPending, "", "sb_1"},
		"quarantined":                 {claim(claims.Quarantined, true), nil, "", false, corev1.PodPending, "", ""},
		"of another Pod":              {&claims.Claim{Row: claims.Row{ID: "sb_1", PodUID: "P0"}, State: claims.Bound, Durable: true}, nil, "", false, corev1.PodPending, "", ""},
		"ended":                       {claim(claims.Bound, true), ended, "", false, corev1.PodFailed, "", "sb_0"},
		"waiting":                     {nil, nil, "no capacity", false, corev1.PodPending, "no capacity", ""},
		"waiting, published with one": {nil, nil, "no capacity", true, corev1.PodPending, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			table := rows{}
			if tc.claim != nil {
				table["agents/a"] = *tc.claim
			}
			pod := fakes.NewPod("a", "P1", "")
			if tc.shown {
				pod.Status = podstatus.Running(pod, podstatus.Binding{ClaimID: "sb_9"})
			}
			m := NewManager(table, newServed(), nil)
			status, id := m.Status(pods.Tracked{Pod: pod, End: tc.end, Waiting: tc.waiting})
			if status.Phase != tc.phase || status.Message != tc.message || id != tc.id {
				t.Errorf("%s %q with claim %q, want %s %q with %q", status.Phase, status.Message, id, tc.phase, tc.message, tc.id)
			}
		})
	}
}

func TestAViewHidesTheDeletion(t *testing.T) {
	pod := fakes.NewPod("a", "P1", "")
	pod.Annotations, pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, new(metav1.Now()), new(int64)
	table := rows{"agents/a": {Row: claims.Row{ID: "sb_1", PodUID: "P1"}, State: claims.Bound, Durable: true}}
	view := NewManager(table, newServed(), nil).View(pods.Tracked{Pod: pod})
	if view.DeletionTimestamp != nil || view.DeletionGracePeriodSeconds != nil || view.Annotations[podcontract.AnnotationClaimID] != "sb_1" {
		t.Errorf("the view is %+v", view.ObjectMeta)
	}
	if pod.DeletionTimestamp == nil || pod.Annotations != nil {
		t.Error("the cached Pod was changed")
	}
}

func TestWhatCountsAsPublished(t *testing.T) {
	claim := claims.Claim{Row: claims.Row{ID: "sb_1", PodUID: "P1", Address: "10.0.0.5:7777"}}
	pod := fakes.NewPod("a", "P1", "")
	pod.Spec.InitContainers = []corev1.Container{{Name: "init"}}
	pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger"}}}
	running := podstatus.Running(pod, pods.BindingOf(claim))
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"all of it":            {func(*corev1.Pod) {}, true},
		"a field of others":    {func(p *corev1.Pod) { p.Status.NominatedNodeName = "other" }, true},
		"another phase":        {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, false},
		"another reason":       {func(p *corev1.Pod) { p.Status.Reason = "NodeLost" }, false},
		"another generation":   {func(p *corev1.Pod) { p.Status.ObservedGeneration = 2 }, false},
		"another message":      {func(p *corev1.Pod) { p.Status.Conditions[0].Message = "other" }, false},
		"a condition's reason": {func(p *corev1.Pod) { p.Status.Conditions[0].Reason = "Other" }, false},
		"no init container":    {func(p *corev1.Pod) { p.Status.InitContainerStatuses = nil }, false},
		"no debug container":   {func(p *corev1.Pod) { p.Status.EphemeralContainerStatuses = nil }, false},
		"ended meanwhile":      {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, true},
		"another address":      {func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.9" }, false},
		"no claim id":          {func(p *corev1.Pod) { p.Annotations = nil }, false},
		"no container":         {func(p *corev1.Pod) { p.Status.ContainerStatuses = nil }, false},
		"marked as not ready":  {func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }, false},
		"one condition more": {func(p *corev1.Pod) {
			p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "Other"})
		}, true},
		"one condition is not": {func(p *corev1.Pod) { p.Status.Conditions = p.Status.Conditions[1:] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			api := fakes.NewPod("a", "P1", "")
			api.Status = *running.DeepCopy()
			api.Annotations[podcontract.AnnotationClaimID] = "sb_1"
			tc.change(api)
			if got := Published(api, running, "sb_1"); got != tc.want {
				t.Errorf("published %t, want %t", got, tc.want)
			}
		})
	}
	if !Published(fakes.NewPod("a", "P1", ""), podstatus.Pending(), "") {
		t.Error("a Pod without a status is to be published")
	}
}

// The tracked object of a Pod can be older than the cache's.
func TestAStatusIsThatOfTheNewestObject(t *testing.T) {
	cached, lister := fakes.PodCache()
	served := pods.NewManager(lister)
	pod := fakes.NewPod("a", "P1", "")
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	table := rows{"agents/a": {Row: claims.Row{ID: "sb_1", PodUID: "P1"}, State: claims.Bound, Durable: true}}
	ready := func(uid types.UID, status corev1.ConditionStatus) corev1.ConditionStatus {
		newest := pod.DeepCopy()
		newest.UID, newest.Status.Conditions = uid, []corev1.PodCondition{{Type: "example.com/gate", Status: status}}
		if err := cached.Add(newest); err != nil {
			t.Fatal(err)
		}
		got, _ := NewManager(table, served, nil).Status(pods.Tracked{Pod: pod})
		i := slices.IndexFunc(got.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
		return got.Conditions[i].Status
	}
	if got := ready("P1", corev1.ConditionTrue); got != corev1.ConditionTrue {
		t.Errorf("Ready is %s after the gate became True", got)
	}
	if got := ready("P2", corev1.ConditionTrue); got != corev1.ConditionFalse {
		t.Errorf("Ready is %s by the gate of another Pod", got)
	}
}
