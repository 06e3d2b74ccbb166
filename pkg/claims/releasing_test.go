// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// A claim whose write failed does not push the release of the same sandbox out
// of the file.
func TestFailedAddBesideARelease(t *testing.T) {
	fsys := faultfs.New()
	table := open(t, fsys)
	mustAdd(t, table, "default/a", "sb_1", "pod-1")
	if err := table.EnqueueRelease("default/a", "sb_1"); err != nil {
		t.Fatal(err)
	}
	fsys.SetFault(func(faultfs.Op) error { return errDiskFull })
	r := row("sb_1", "pod-2")
	r.Token = sandboxd.NewToken("second")
	if err := table.Add("default/b", r, nil); err == nil {
		t.Fatal("the write was to fail")
	}
	fsys.SetFault(nil)
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	var credentials []string
	again := open(t, fsys)
	for _, c := range append(again.List(), again.Releasing()...) {
		credentials = append(credentials, c.ID+" "+c.Token.Reveal())
	}
	want := []string{"sb_1 token-of-sb_1", "sb_1 second"}
	if diff := cmp.Diff(want, credentials); diff != "" {
		t.Errorf("credentials in the file (-want +got):\n%s", diff)
	}
}
