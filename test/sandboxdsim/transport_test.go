// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "testing"

func TestAnAnswerIsEitherDeliveredOrAbandoned(t *testing.T) {
	r := newRecorder()
	if err := r.FlushError(); err != nil || r.abandon() || !r.delivered {
		t.Errorf("flushed first: %v, %+v", err, r)
	}
	r = newRecorder()
	if !r.abandon() || r.FlushError() == nil || r.delivered {
		t.Errorf("abandoned first: %+v", r)
	}
}
