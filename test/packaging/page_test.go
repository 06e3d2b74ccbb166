// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/docs/page"
)

// commands are what docs/installation.md says to do on a host with systemd, in its
// order.
type commands struct{ install, permit, start, show, upgrade, remove string }

// systemdPage reads them. Each block of the documentation that is marked as run in
// systemd is one of them.
func systemdPage(t *testing.T) (c commands) {
	t.Helper()
	blocks, err := page.Load(root(t))
	if err != nil {
		t.Fatal(err)
	}
	places := []*string{&c.install, &c.permit, &c.start, &c.show, &c.upgrade, &c.remove}
	found := 0
	for _, b := range blocks {
		if b.Place != page.Systemd {
			continue
		}
		if found == len(places) || b.Page != "docs/installation.md" {
			t.Fatalf("%s: this test does not know what to do with it", b)
		}
		*places[found] = b.Text
		found++
	}
	if found != len(places) {
		t.Fatalf("the pages have %d blocks to be run in systemd, want %d", found, len(places))
	}
	return c
}

// sh runs a block as root in the project's folder, up to the first command that
// fails.
func (s *system) sh(block string) string {
	s.t.Helper()
	return s.do("bash", "-o", "errexit", "-o", "nounset", "-o", "pipefail", "-c", "cd "+source+"\n"+block)
}
