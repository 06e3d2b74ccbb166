// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/docs/page"
)

// The pages of the walk.
const (
	readme        = "README.md"
	chartPage     = "charts/vk-sandbox/README.md"
	configuration = "docs/configuration.md"
	development   = "docs/development.md"
	installation  = "docs/installation.md"
	operations    = "docs/operations.md"
	testingPage   = "docs/testing.md"
	runbooks      = "docs/runbooks/"
)

// reader is the player, with the test's additional knowledge.
type reader struct {
	*player
	*cluster
}

// TestDocumentation runs the chapters in order. A failed chapter ends it.
func TestDocumentation(t *testing.T) {
	c := newCluster(t)
	blocks, err := page.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{&player{t: t, shell: newShell(t), blocks: blocks, played: map[int]bool{}}, c}
	for _, chapter := range []struct {
		title string
		play  func(*reader)
	}{
		{"a developer looks around", (*reader).lookAround},
		{"the chart's page alone", (*reader).chartAlone},
		{"install", (*reader).install},
		{"with agent-sandbox", (*reader).withAgentSandbox},
		{"a Pod alone", (*reader).podAlone},
		{"upgrade and roll back", (*reader).upgrade},
		{"read the node's reports", (*reader).diagnose},
		{"rotate token and certificate", (*reader).rotate},
		{"restore a table", (*reader).restore},
		{"move the tables", (*reader).move},
		{"drain a host", (*reader).drain},
		{"take a host out", (*reader).takeOut},
		{"uninstall", (*reader).uninstall},
	} {
		passed := t.Run(chapter.title, func(t *testing.T) {
			r.t = t
			chapter.play(r)
		})
		if !passed {
			return
		}
	}
	for _, b := range r.unplayed() {
		t.Errorf("%s was not executed: play its section in a chapter", b)
	}
}
