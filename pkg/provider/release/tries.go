// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// tries keeps the last try of each unconfirmed release, by sandbox id. The zero value is
// ready.
type tries struct{ perClaim[try] }

type try struct {
	why string
	at  time.Time
}

// due reports whether a release may be tried now: the first time at once, then every
// retryEvery.
func (t *tries) due(id string, now time.Time) bool {
	last, tried := t.get(id)
	return !tried || now.Sub(last.at) >= retryEvery
}

// record stores the outcome of a release try. It returns why the release is not
// confirmed, and whether that has changed.
func (t *tries) record(id string, gone bool, err error) (why string, changed bool) {
	why = "it is not listed just now, which is not sure yet"
	switch class := sandboxd.ClassOf(err); {
	case gone:
		t.forget(id)
		return "", false
	case class != "":
		why = string(class)
	case err != nil:
		why = "the call failed"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	changed = t.values[id].why != why
	t.put(id, try{why, time.Now()})
	return why, changed
}

func (t *tries) why(id string) (string, bool) {
	last, ok := t.get(id)
	return last.why, ok
}
