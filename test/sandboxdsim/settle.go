// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "net/http"

// settle writes a claim's answer and records what became of it, unless the daemon's end has settled that
// already. The locks are taken in such an order that nothing which the client does with its answer, and
// no closed connection, comes before the event.
func (d *daemon) settle(rep reply, write func() error) error {
	d.mu.Lock()
	v, open := d.unanswered[rep.claimed.ID]
	if !open {
		d.mu.Unlock()
		return errDropped
	}
	delete(d.unanswered, v.ID)
	d.record.answering.RLock()
	defer d.record.answering.RUnlock()
	d.mu.Unlock()
	err := write()
	how := EventAnswerLost
	if err == nil && rep.status == http.StatusOK && !rep.truncated {
		how = EventAnswered
	}
	d.record.keep(newEvent(v, how, v.Claim.By))
	return err
}
