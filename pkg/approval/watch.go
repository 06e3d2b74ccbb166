// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package approval

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

// watchEvery is the pause between two checks for an approval.
const watchEvery = 5 * time.Second

// Watch takes each approval of a kind within 5 seconds and passes it to accept, until ctx
// ends. Its file is removed first, so that accept gets it once. A time in the future,
// left by a clock that was set back, is replaced by now: an approval covers nothing that
// happens after it was taken. An approval that cannot be taken is logged once for each
// reason and retried.
func Watch(ctx context.Context, fsys claimfile.FS, statePath string, kind Kind, accept func(Approval)) {
	logged := ""
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		a, found, err := Take(fsys, statePath, kind)
		switch {
		case err != nil && err.Error() != logged:
			logged = err.Error()
			klog.FromContext(ctx).Error(err, "An approval is there and cannot be used", "kind", kind)
		case err == nil:
			logged = ""
		}
		if !found {
			return
		}
		if now := time.Now(); a.At.After(now) {
			a.At = now
		}
		accept(a)
	}, watchEvery)
}
