// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"os/exec"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/docs/page"
)

const root = "../../.."

// player runs the pages' blocks.
type player struct {
	// t is that of the chapter that is played.
	t      *testing.T
	shell  *shell
	blocks []page.Block
	played map[int]bool
	// hosts are those on which a block for "the host" is run.
	hosts []string
}

// play runs the blocks of a page's section in order: all of them, or those with the given
// indexes.
func (p *player) play(file, section string, places ...int) {
	p.t.Helper()
	var found []int
	for i, b := range p.blocks {
		if b.Page == file && b.Section == section {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		p.t.Fatalf("%s has no commands under %q", file, section)
	}
	for _, place := range places {
		if place >= len(found) {
			p.t.Fatalf("%s has %d blocks under %q; there is no number %d", file, len(found), section, place)
		}
		p.execute(found[place])
	}
	if places == nil {
		for _, i := range found {
			p.execute(i)
		}
	}
}

// playPage runs all blocks of a page.
func (p *player) playPage(file string) {
	p.t.Helper()
	for i, b := range p.blocks {
		if b.Page == file {
			p.execute(i)
		}
	}
}

func (p *player) execute(i int) {
	p.t.Helper()
	b := p.blocks[i]
	switch b.Place {
	case page.Here:
		start := time.Now()
		out := p.run(b.String(), b.Text)
		p.t.Logf("%s, %s\n%s%s", b, time.Since(start).Round(time.Second), b.Text, out)
	case page.OnHost:
		for _, host := range p.hosts {
			p.t.Logf("%s, on %s\n%s%s", b, host, b.Text, p.onHost(host, b.Text))
		}
	default:
		return
	}
	p.played[i] = true
}

// run runs commands in the reader's shell.
func (p *player) run(what, commands string) string {
	p.t.Helper()
	out, err := p.shell.run(commands)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s--- output\n%s", what, err, commands, out)
	}
	return out
}

// onHost runs commands as root on a host.
func (p *player) onHost(host, commands string) string {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), root+"/bin/cluster", "exec", "--host="+host, "--",
		"bash", "-o", "errexit", "-o", "nounset", "-o", "pipefail", "-c", commands)
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("on %s: %v\n%s--- output\n%s", host, err, commands, out)
	}
	return string(out)
}

// unplayed returns the blocks that no chapter has run and that are not marked as run
// elsewhere.
func (p *player) unplayed() (left []page.Block) {
	for i, b := range p.blocks {
		if !p.played[i] && (b.Place == page.Here || b.Place == page.OnHost) {
			left = append(left, b)
		}
	}
	return left
}
