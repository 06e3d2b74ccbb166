// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// watch runs Watch for a kind, and returns what it accepts and what it logs.
func watch(t *testing.T, fsys claimfile.FS, kind approval.Kind) (accepted *[]approval.Approval, lines *[]string) {
	t.Helper()
	accepted, lines = &[]approval.Approval{}, &[]string{}
	ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) { *lines = append(*lines, line) }, funcr.Options{}))
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		approval.Watch(ctx, fsys, table, kind, func(a approval.Approval) { *accepted = append(*accepted, a) })
	}()
	t.Cleanup(func() { stop(); <-ended })
	synctest.Wait()
	return accepted, lines
}

// An approval is taken within 5 s, once, and only by a watch of its kind.
func TestWatch(t *testing.T) {
	for name, tc := range map[string]struct {
		kind approval.Kind
		age  time.Duration
		want int
	}{
		"of the kind":      {approval.MissingOwners, time.Hour, 1},
		"of another kind":  {approval.Place, time.Hour, 0},
		"given in advance": {approval.MissingOwners, -time.Hour, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fsys := faultfs.New()
				accepted, lines := watch(t, fsys, approval.MissingOwners)
				at := time.Now().Add(-tc.age)
				if err := approval.Write(fsys, table, tc.kind, approval.Approval{At: at}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if len(*accepted) != tc.want {
					t.Fatalf("accepted %d times within 5 s, want %d", len(*accepted), tc.want)
				}
				for _, a := range *accepted {
					if a.At.After(time.Now()) || tc.age > 0 && !a.At.Equal(at) {
						t.Errorf("accepted as of %v at %v, given at %v", a.At, time.Now(), at)
					}
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if len(*accepted) != tc.want || len(*lines) != 0 {
					t.Errorf("accepted %d times in an hour, want %d; logged %q", len(*accepted), tc.want, *lines)
				}
			})
		})
	}
}

// An approval that cannot be taken is logged once. It is accepted when it can be.
func TestWatchReportsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := faultfs.New()
		if err := approval.Write(fsys, table, approval.MissingOwners, given); err != nil {
			t.Fatal(err)
		}
		fsys.SetFault(func(op faultfs.Op) error {
			if op == faultfs.OpRemove {
				return errors.New("read-only file system")
			}
			return nil
		})
		accepted, lines := watch(t, fsys, approval.MissingOwners)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(*accepted) != 0 || len(*lines) != 1 || !strings.Contains((*lines)[0], "read-only file system") {
			t.Fatalf("accepted %d times, logged %q", len(*accepted), *lines)
		}
		fsys.SetFault(nil)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if len(*accepted) != 1 {
			t.Errorf("accepted %d times once the file can be removed", len(*accepted))
		}
	})
}
