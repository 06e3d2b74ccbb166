// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// Host is what the model reads from the simulated host besides its configuration.
type Host interface {
	// Table is the running daemon's claims table; nil while no daemon runs.
	Table() *claims.Table
	// IndexWrongUntil is the end of the last period in which sandboxd's index was
	// made wrong.
	IndexWrongUntil() time.Time
	// LastingFaults are the faults that stay until the end of a history.
	LastingFaults() []fault.Fault
}

// Config is what a model observes. Everything is required.
type Config struct {
	API       *apiserver.API
	Sandboxd  *sandboxdsim.Server
	FS        *faultfs.FS
	TablePath string
	Leaks     *Leaks
	Host      Host
}

// Model records what users were shown and what the node did, and checks both
// against the contract. It reads no decision of the provider.
type Model struct {
	Config

	pods *timeline
	// inOtherCluster is true while the daemon talks to another cluster's API server.
	inOtherCluster atomic.Bool

	mu          sync.Mutex
	shown       map[string]*shownVM        // sandboxes shown as running, by id
	byPod       map[types.UID]string       // the sandbox that a Pod was shown on
	mayBeLost   map[string]bool            // sandboxes whose row a crash or a wrong index can have removed
	unusable    map[string]unusableAddress // claims answered without a usable address, by id
	leaseMoved  map[string]bool            // sandboxes whose lease changed after the claim
	indexMisled map[string]bool            // sandboxes ended because the index was wrong when the lease passed
	restores    restores
	lastFault   time.Time // the last failure of the disk or the machine
	lastEvent   int64
	lastCheck   time.Time
	violations  []string
}

// shownVM is a sandbox that a user has seen, and the last Pod it was seen on.
type shownVM struct {
	key string
	pod types.UID
}

type unusableAddress struct {
	key string
	// pod had the key when the claim was sent; empty for none.
	pod types.UID
	at  time.Time
}

// New returns the model of one host. The daemon must not have been started yet.
func New(c Config) *Model {
	return &Model{
		Config: c, pods: newTimeline(c.API), shown: map[string]*shownVM{}, byPod: map[types.UID]string{}, mayBeLost: map[string]bool{},
		unusable: map[string]unusableAddress{}, leaseMoved: map[string]bool{}, indexMisled: map[string]bool{}, restores: newRestores(),
	}
}

// SetInOtherCluster sets whether the daemon talks to another cluster's API
// server. While it does, it must neither publish nor ask sandboxd for anything.
func (m *Model) SetInOtherCluster(on bool) { m.inOtherCluster.Store(on) }

// PodCached records that the daemon's cache shows the Pod.
func (m *Model) PodCached(pod *corev1.Pod) { m.pods.cached(pod) }

func (m *Model) breaksRule(rule int, format string, args ...any) {
	m.violations = append(m.violations, fmt.Sprintf("rule %d: ", rule)+fmt.Sprintf(format, args...))
}

// breaksContract records a violation of documented behaviour that has no rule number.
func (m *Model) breaksContract(format string, args ...any) {
	m.violations = append(m.violations, "contract: "+fmt.Sprintf(format, args...))
}

// StatusPublished checks a status when it is published.
func (m *Model) StatusPublished(pod *corev1.Pod) {
	text, _ := json.Marshal(pod)
	m.Leaks.Look(text)
	id, key := podstatus.ClaimID(pod), podcontract.Key(pod)
	if m.inOtherCluster.Load() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.breaksContract("%s was published %s in another cluster", key, pod.Status.Phase)
		return
	}
	lives := pod.Status.Phase == corev1.PodFailed && m.leaseRuns(id)
	stored := m.API.Pod(key)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch pod.Status.Phase {
	case corev1.PodFailed:
		switch {
		case !lives || pod.Status.Reason == podstatus.ReasonDeleted && (stored == nil || stored.UID != pod.UID || stored.DeletionTimestamp != nil):
			// A deleted Pod has ended. Its sandbox may be kept for the next Pod.
		case pod.Status.Reason == podstatus.ReasonDeleted && m.restores.undone[pod.UID]:
			// A restore has undone the deletion since.
		case m.indexMayMislead(id, time.Now()):
			m.indexMisled[id] = true
		default:
			m.breaksRule(1, "%s was published Failed while its sandbox %s is alive", key, id)
		}
	case corev1.PodRunning:
		m.publishedRunning(pod, key, id, stored == nil || stored.UID != pod.UID)
	}
}

// publishedRunning checks a Running status. gone is true when the API server no
// longer has the Pod. The caller holds mu.
func (m *Model) publishedRunning(pod *corev1.Pod, key, id string, gone bool) {
	// If the Pod's deletion finished after its status was built, the row and the
	// sandbox are gone, or the row waits for the release.
	if !m.durable(key, id, pod.UID) && m.HasVM(id) && (!gone || !m.recorded(id)) {
		m.breaksRule(3, "%s was published Running on %s, which the file does not have for pod %s", key, id, pod.UID)
	}
	if ip := pod.Status.PodIP; ip != "" && !IsPodIP(ip) {
		m.breaksContract("%s was published with the IP %q", key, ip)
	}
	if other := m.byPod[pod.UID]; other != "" && other != id {
		m.breaksRule(5, "pod %s of %s ran on %s and now runs on %s", pod.UID, key, other, id)
	}
	m.byPod[pod.UID] = id
	s := m.shown[id]
	if s == nil {
		s = &shownVM{key: key, pod: pod.UID}
		m.shown[id] = s
	}
	switch {
	case s.key != key:
		m.breaksRule(5, "sandbox %s of %s was given to %s", id, s.key, key)
	case s.pod == pod.UID:
	case !m.pods.mayAdopt(s.pod, pod.UID):
		m.breaksRule(5, "sandbox %s of %s, pod %s (%s) was given to pod %s (%s)", id, key, s.pod, m.pods.authorities(s.pod), pod.UID, m.pods.authorities(pod.UID))
	case m.pods.usedKeyLater(key, s.pod, pod.UID):
		s.pod = pod.UID
	}
}

// Requested checks a claim or a release that the daemon sends to sandboxd: it must
// send none while it talks to another cluster.
func (m *Model) Requested(what string) {
	if m.inOtherCluster.Load() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.breaksContract("%s was asked for in another cluster", what)
	}
}

// ClaimRequested checks a claim when it is sent: a Pod that has ended must not claim. It
// returns the Pod of that key; empty if there is none.
func (m *Model) ClaimRequested(key string) (uid types.UID) {
	pod := m.API.Pod(key)
	if pod == nil {
		return ""
	}
	if m.pods.endedBefore(key, pod.UID, time.Now()) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.breaksContract("a sandbox was claimed for %s, pod %s, which is %s", key, pod.UID, pod.Status.Phase)
	}
	return pod.UID
}

// AddressUnusable records a claim whose answer has no usable address, sent at since when
// the Pod had the key.
func (m *Model) AddressUnusable(id, key string, pod types.UID, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unusable[id] = unusableAddress{key, pod, since}
}

// durable reports whether the Pod would still hold the claim after a crash of the
// machine. It decodes only the key's row, because there can be thousands.
func (m *Model) durable(key, id string, holder types.UID) bool {
	_, rest, found := bytes.Cut(m.FS.Durable(m.TablePath), fmt.Appendf(nil, "%q:", key))
	var row struct {
		ID     string
		PodUID types.UID
	}
	return found && json.NewDecoder(bytes.NewReader(rest)).Decode(&row) == nil && row.ID == id && row.PodUID == holder
}

// recorded reports whether the credential would survive a crash of the machine.
func (m *Model) recorded(id string) bool {
	return bytes.Contains(m.FS.Durable(m.TablePath), fmt.Appendf(nil, "%q", id))
}

// Crashed records a crash. A sandbox whose credential had arrived, and that nobody
// was shown, may lose its row: the node ends it with its lease.
func (m *Model) Crashed() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastFault = time.Now()
	for _, id := range m.Leaks.delivered() {
		if m.shown[id] == nil {
			m.mayBeLost[id] = true
		}
	}
}

// IsPodIP reports whether a Pod can have text as its IP.
func IsPodIP(text string) bool {
	ip := net.ParseIP(text)
	return ip != nil && !ip.IsUnspecified()
}
