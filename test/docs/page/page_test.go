// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fenced = "```sh\n# no heading\nfalse\n```\n"

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Block
		err  string
	}{
		"under its heading": {
			text: "# One\n\n## Two\n\nDo:\n\n" + fenced,
			want: []Block{{Section: "Two", Line: 8, Text: "# no heading\nfalse\n"}},
		},
		"on the host": {
			text: "# One\n<!-- on the host -->\n" + fenced,
			want: []Block{{Section: "One", Line: 4, Text: "# no heading\nfalse\n", Place: OnHost}},
		},
		"not executed": {
			text: "<!-- not executed: needs a registry -->\n" + fenced,
			want: []Block{{Line: 3, Text: "# no heading\nfalse\n", Place: Nowhere, Reason: "needs a registry"}},
		},
		"a comment further up is none of it": {
			text: "<!-- not executed: that one -->\n\n" + fenced,
			want: []Block{{Line: 4, Text: "# no heading\nfalse\n"}},
		},
		"other languages": {text: "```yaml\na: b\n```\n```\n```\n"},
		"without a reason": {
			text: "<!-- not executed -->\n" + fenced,
			want: []Block{{Line: 3, Text: "# no heading\nfalse\n", Place: Nowhere}},
			err:  "page.md:2: the block is not executed, and the comment above it does not say why",
		},
		"a marker that means nothing": {
			text: "<!-- skip -->\n" + fenced,
			want: []Block{{Line: 3, Text: "# no heading\nfalse\n", Place: "skip"}},
			err:  `the comment "skip"`,
		},
		"a language that would evade": {text: "```bash\nfalse\n```\n", err: `the language "bash"`},
		"an indented block":           {text: "- one\n  ```sh\n", err: "at the start of its line"},
		"without an end":              {text: "```sh\nfalse\n", err: "has no end"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("page.md", c.text)
			for i := range c.want {
				c.want[i].Page = "page.md"
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}
