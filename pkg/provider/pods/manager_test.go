// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

const key = fakes.Namespace + "/a"

func newManager() (*Manager, cache.Indexer) {
	indexer, lister := fakes.PodCache()
	return NewManager(lister), indexer
}

func deleted(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	p.DeletionTimestamp = new(metav1.Now())
	return p
}

func TestWhatTrackKeeps(t *testing.T) {
	pod := fakes.NewPod("a", "P1", "")
	for name, tc := range map[string]struct {
		before               func(*Manager)
		pod                  *corev1.Pod
		end, removal, notify bool
	}{
		"a new Pod":                {func(*Manager) {}, pod, false, false, false},
		"its status":               {func(m *Manager) { m.Track(pod); m.MarkNotified(key) }, pod, false, false, true},
		"its end":                  {func(m *Manager) { m.Track(pod); m.MarkEnded(key, Ending{}) }, pod, true, false, false},
		"the end of a deletion":    {func(m *Manager) { m.Track(pod); m.MarkEnded(key, Ending{Deleted: true}) }, deleted(pod), true, false, false},
		"no end of a restored Pod": {func(m *Manager) { m.Track(deleted(pod)); m.MarkEnded(key, Ending{Deleted: true}) }, pod, false, false, false},
		"nothing of an older Pod": {func(m *Manager) {
			m.Track(fakes.NewPod("a", "P0", ""))
			m.MarkEnded(key, Ending{})
			m.MarkNotified(key)
		}, pod, false, false, false},
		"its removal":               {func(m *Manager) { m.Track(pod); m.MarkRemovalRequested(key) }, deleted(pod), false, true, false},
		"no removal after a return": {func(m *Manager) { m.Track(deleted(pod)); m.MarkRemovalRequested(key) }, pod, false, false, false},
		"nothing after a drop":      {func(m *Manager) { m.Track(pod); m.MarkNotified(key); m.Drop(key) }, pod, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := newManager()
			tc.before(m)
			m.MarkWaiting(key, "no capacity")
			m.Departed(tc.pod, true)
			m.Track(tc.pod)
			got, _ := m.Get(key)
			if got.Pod != tc.pod || got.Gone == nil || got.Waiting != "" {
				t.Errorf("tracked %+v", got)
			}
			if (got.End != nil) != tc.end || got.RemovalRequested != tc.removal || got.Notified != tc.notify {
				t.Errorf("ended %t, removal %t, notified %t", got.End != nil, got.RemovalRequested, got.Notified)
			}
		})
	}
}

func TestWhenADepartureWasSeen(t *testing.T) {
	pod := fakes.NewPod("a", "P1", "")
	for name, tc := range map[string]struct {
		tracked, final *corev1.Pod
		event          bool
		gone, seen     bool
	}{
		"by an event":             {pod, pod, true, true, true},
		"by a list":               {pod, pod, false, true, false},
		"while it was deleted":    {pod, deleted(pod), false, true, true},
		"known to be deleted":     {deleted(pod), pod, false, true, true},
		"of another Pod":          {fakes.NewPod("a", "P2", ""), pod, true, false, false},
		"of a Pod that is nobody": {nil, pod, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := newManager()
			if tc.tracked != nil {
				m.Track(tc.tracked)
			}
			m.Departed(tc.final, tc.event)
			got, _ := m.Get(key)
			if (got.Gone != nil) != tc.gone || tc.gone && got.Gone.Seen != tc.seen {
				t.Errorf("departure %+v", got.Gone)
			}
		})
	}
}

func TestTheCachesObjectIsShared(t *testing.T) {
	m, _ := newManager()
	pod, copied := fakes.NewPod("a", "P1", ""), fakes.NewPod("a", "P1", "")
	m.TrackUnknown(pod)
	m.TrackUnknown(fakes.NewPod("a", "P2", ""))
	m.Departed(pod, true)
	m.Share(copied)
	m.Share(fakes.NewPod("a", "P3", ""))
	if got := m.All(); len(got) != 1 || got[0].Pod != copied || got[0].Gone != nil {
		t.Errorf("tracked %+v", got)
	}
}

func TestKeysAreLocked(t *testing.T) {
	m, _ := newManager()
	unlock := m.Lock(key)
	if _, ok := m.TryLock(key); ok {
		t.Error("a locked key was locked again")
	}
	unlock()
	if unlock, ok := m.TryLock(key); !ok {
		t.Error("an unlocked key could not be locked")
	} else {
		unlock()
	}
}

func TestWhoHoldsAClaim(t *testing.T) {
	failed := func(reason string) func(*Manager, cache.Indexer) {
		return func(_ *Manager, c cache.Indexer) {
			pod := fakes.NewPod("a", "P1", "")
			pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason}
			_ = c.Add(pod)
		}
	}
	cached := func(uid types.UID) func(*Manager, cache.Indexer) {
		return func(_ *Manager, c cache.Indexer) { _ = c.Add(fakes.NewPod("a", uid, "")) }
	}
	ended := func(e Ending) func(*Manager, cache.Indexer) {
		return func(m *Manager, _ cache.Indexer) {
			m.Track(fakes.NewPod("a", "P1", ""))
			m.MarkEnded(key, e)
		}
	}
	for name, tc := range map[string]struct {
		state                        claims.State
		before                       func(*Manager, cache.Indexer)
		hasNoPod, terminated, byLoss bool
	}{
		"nobody":                {claims.Bound, func(*Manager, cache.Indexer) {}, true, false, false},
		"a cached Pod":          {claims.Bound, cached("P1"), false, false, false},
		"another Pod":           {claims.Bound, cached("P2"), true, false, false},
		"a tracked Pod":         {claims.Bound, func(m *Manager, _ cache.Indexer) { m.Track(fakes.NewPod("a", "P1", "")) }, false, false, false},
		"a preserved claim":     {claims.Preserved, cached("P1"), true, false, false},
		"ended with its VM":     {claims.Bound, ended(Ending{}), false, true, true},
		"deleted":               {claims.Bound, ended(Ending{Deleted: true}), true, true, false},
		"failed in the API":     {claims.Bound, failed("Evicted"), false, true, false},
		"lost in the API":       {claims.Bound, failed(podstatus.ReasonLost), false, true, true},
		"its lease ended there": {claims.Bound, failed(podstatus.ReasonLeaseExpired), false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			m, c := newManager()
			tc.before(m, c)
			claim := claims.Claim{Key: key, Row: claims.Row{PodUID: "P1"}, State: tc.state}
			if got := m.HasNoPod(claim); got != tc.hasNoPod {
				t.Errorf("has no Pod: %t", got)
			}
			if got := m.HolderTerminated(claim); got != tc.terminated {
				t.Errorf("terminated: %t", got)
			}
			if got := m.EndedWithSandbox(claim); got != tc.byLoss {
				t.Errorf("ended with its sandbox: %t", got)
			}
		})
	}
}

func TestTheNewestObjectCounts(t *testing.T) {
	m, c := newManager()
	older, newest := fakes.NewPod("a", "P1", "S"), fakes.NewPod("a", "P1", "T")
	if m.InCache(older) || m.Terminated(older) || m.Holder(older).Controller.UID != "S" {
		t.Error("without a cached object, the given one counts")
	}
	newest.Status.Phase = corev1.PodFailed
	m.Track(older)
	m.Departed(newest, true)
	if m.InCache(older) || m.Holder(older).Controller.UID != "T" {
		t.Error("the last object of a Pod that has gone is newer")
	}
	m.Drop(key)
	if err := c.Add(newest); err != nil {
		t.Fatal(err)
	}
	if !m.InCache(older) || !m.Terminated(older) || !m.Terminated(newest) || m.Holder(older).Controller.UID != "T" {
		t.Error("the cached object is newer")
	}
	if got := m.Holder(fakes.NewPod("a", "P2", "")); got.PodUID != "P2" || got.Controller != nil {
		t.Errorf("another Pod is the holder %+v", got)
	}
}

func TestPublishedBinding(t *testing.T) {
	created, started := time.Unix(1000, 0), time.Unix(2000, 0)
	pod := fakes.NewPod("a", "P1", "")
	pod.CreationTimestamp = metav1.NewTime(created)
	if got := PublishedBinding(pod); got.ClaimID != "" || !got.ClaimedAt.Equal(created) {
		t.Errorf("binding %+v", got)
	}
	pod.Status = podstatus.Running(pod, BindingOf(claims.Claim{Row: claims.Row{ID: "sb_1", Address: "10.0.0.5:7777", ClaimedAt: started}}))
	if got := PublishedBinding(pod); got.ClaimID != "sb_1" || got.Address != "10.0.0.5" || !got.ClaimedAt.Equal(started) {
		t.Errorf("binding %+v", got)
	}
	if WithLogger(t.Context(), pod) == t.Context() {
		t.Error("the context has no logger")
	}
}

// A Pod whose claim is requested can change and leave while an older Pod of its name is
// tracked.
func TestDeparturesAreKnownWhileTheirKeyIsUsed(t *testing.T) {
	m, _ := newManager()
	older, newest := fakes.NewPod("a", "P1", "S"), fakes.NewPod("a", "P1", "T")
	m.Track(fakes.NewPod("a", "P0", "S"))
	unlock := m.Lock(key)
	m.Departed(newest, true)
	if got := m.Holder(older); got.Controller.UID != "T" {
		t.Errorf("the holder is %+v, want the controller of the last object", got)
	}
	m.Track(older)
	if got, _ := m.Get(key); got.Gone == nil || got.Gone.Final != newest {
		t.Errorf("tracked with the departure %+v", got.Gone)
	}
	unlock()
	m.Drop(key)
	if got := m.Holder(older); got.Controller.UID != "S" || len(m.departures) > 0 {
		t.Errorf("a departure outlives the use of its key: %+v", m.departures)
	}
}
