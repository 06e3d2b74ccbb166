// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

// EventType names a transition.
type EventType string

// The types of events.
const (
	// EventStarted: the daemon came up; VMs from before are still there.
	EventStarted EventType = "started"
	// EventMade: a VM came into being.
	EventMade EventType = "made"
	// EventClaimed: a claim was made and persisted; its answer is not written yet.
	EventClaimed EventType = "claimed"
	// EventAnswered: the claim's answer was written out.
	EventAnswered EventType = "answered"
	// EventAnswerLost: the claim stands, and its client never got the answer.
	EventAnswerLost EventType = "answer-lost"
	// EventHibernated, EventWoken, EventArchived: what they say; the event has the new deadline.
	EventHibernated EventType = "hibernated"
	EventWoken      EventType = "woken"
	EventArchived   EventType = "archived"
	// EventRenewed: the lease was renewed through the API.
	EventRenewed EventType = "renewed"
	// EventLeaseMoved: the lease was moved through the control API.
	EventLeaseMoved EventType = "lease-moved"

	// EventReleased: the VM was destroyed through the API; By is the kind of token.
	EventReleased EventType = "released"
	// EventReaped: the VM was destroyed at its deadline.
	EventReaped EventType = "reaped"
	// EventDiscarded: a warm VM was destroyed, by a drain or a change of capacity or of the pools.
	EventDiscarded EventType = "discarded"
	// EventLost: the VM vanished by itself, at the control API's command.
	EventLost EventType = "lost"
)

func (t EventType) destroys() bool {
	switch t {
	case EventReleased, EventReaped, EventDiscarded, EventLost:
		return true
	}
	return false
}

// Actor is who caused a transition.
type Actor string

// The actors: three kinds of token, the daemon's own loops, and the test.
const (
	ByRoot    Actor = "root-token"
	ByTenant  Actor = "tenant-token"
	BySandbox Actor = "sandbox-token"
	ByRefill  Actor = "refill"
	ByReaper  Actor = "reaper"
	ByArchive Actor = "archiver"
	ByDrain   Actor = "drain"
	ByControl Actor = "control"
)

// Event is one transition. It never holds a token.
type Event struct {
	// Seq counts from 1 without gaps, over restarts of the process too.
	Seq      int64      `json:"seq"`
	Time     time.Time  `json:"time"`
	Type     EventType  `json:"type"`
	Sandbox  string     `json:"sandbox,omitempty"`
	Key      config.Key `json:"key,omitzero"`
	ClaimRef string     `json:"claim_ref,omitempty"`
	By       Actor      `json:"by,omitempty"`
	// Provision is how a claim got its VM.
	Provision config.Provision `json:"provision,omitempty"`
	// Deadline is the lease as the transition left it.
	Deadline time.Time `json:"deadline,omitzero"`
}

// String renders the event for a log line.
func (e Event) String() string {
	b, err := json.Marshal(e)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// Counters add up the events since the state directory was made.
type Counters struct {
	Made        int           `json:"made"`
	Claimed     int           `json:"claimed"`
	Answered    int           `json:"answered"`
	AnswersLost int           `json:"answers_lost"`
	Destroyed   int           `json:"destroyed"`
	DestroyedBy map[Actor]int `json:"destroyed_by"`
}

func (c *Counters) add(e Event) {
	switch e.Type {
	case EventMade:
		c.Made++
	case EventClaimed:
		c.Claimed++
	case EventAnswered:
		c.Answered++
	case EventAnswerLost:
		c.AnswersLost++
	}
	if e.Type.destroys() {
		c.Destroyed++
		c.DestroyedBy[e.By]++
	}
}
