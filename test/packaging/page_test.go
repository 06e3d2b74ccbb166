// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/docs/page"
)

// commands are the commands of docs/installation.md for a host with systemd, in order.
type commands struct{ install, permit, start, show, upgrade, remove string }

// systemdPage reads the commands. Each block of the documentation that is marked for
// systemd must be one of them.
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

// sh runs a block as root in the project's folder until a command fails.
func (s *system) sh(block string) string {
	s.t.Helper()
	return s.do("bash", "-o", "errexit", "-o", "nounset", "-o", "pipefail", "-c", "cd "+source+"\n"+block)
}
