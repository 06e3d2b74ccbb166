// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/docs/page"
)

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.+)$`)
	block      = regexp.MustCompile("(?ms)^```.*?^```$")
	notInSlugs = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns the link targets of a page's headings.
func anchors(content string) map[string]bool {
	all := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(block.ReplaceAllString(content, ""), -1) {
		name := notInSlugs.ReplaceAllString(strings.ToLower(match[1]), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

// TestLinks follows every link within the project, to the heading.
func TestLinks(t *testing.T) {
	files, err := page.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	followed := 0
	for _, file := range files {
		for _, match := range link.FindAllStringSubmatch(block.ReplaceAllString(text(t, file), ""), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			followed++
			path, anchor, _ := strings.Cut(match[1], "#")
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: the link to %s: %v", file, match[1], err)
				continue
			}
			if anchor != "" && !anchors(text(t, target))[anchor] {
				t.Errorf("%s: the link to %s: no heading is called that", file, match[1])
			}
		}
	}
	if followed == 0 {
		t.Error("the pages have no link")
	}
}
