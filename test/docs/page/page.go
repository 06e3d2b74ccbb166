// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Place is where a block is run.
type Place string

// Places.
const (
	Here    Place = ""
	OnHost  Place = "on the host"
	Systemd Place = "in systemd"
	Nowhere Place = "not executed"
)

// Block is one block of commands.
type Block struct {
	// Page is the file, from the top of the project.
	Page string
	// Section is the text of the heading that it stands under.
	Section string
	// Line is the line of its first command.
	Line int
	// Text are the commands.
	Text  string
	Place Place
	// Reason is why it is run nowhere.
	Reason string
}

// String names the block.
func (b Block) String() string { return fmt.Sprintf("%s:%d (%s)", b.Page, b.Line, b.Section) }

// patterns are the files that have commands for readers.
var patterns = [...]string{"*.md", "docs/*.md", "docs/runbooks/*.md", "charts/vk-sandbox/README.md"}

// Files are the pages below root, the top folder of the project, from there.
func Files(root string) ([]string, error) {
	var all []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("no page is at %s", pattern)
		}
		for _, file := range found {
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			all = append(all, name)
		}
	}
	return all, nil
}

// Load reads the blocks of all pages, in their order. The error names each block
// whose marker or language means nothing here.
func Load(root string) ([]Block, error) {
	files, err := Files(root)
	if err != nil {
		return nil, err
	}
	var all []Block
	var errs []error
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		blocks, err := Parse(file, string(text))
		all, errs = append(all, blocks...), append(errs, err)
	}
	return all, errors.Join(errs...)
}

var (
	fence   = regexp.MustCompile("^```(.*)$")
	heading = regexp.MustCompile(`^#{1,6} +(.+)$`)
	comment = regexp.MustCompile(`^<!-- *(.*?) *-->$`)
	// disguised is a fence that would be one for a reader and none here.
	disguised = regexp.MustCompile("^([ \t]+```|[ \t]*~~~)")
	// languages are those of blocks that are no commands.
	languages = []string{"", "json", "mermaid", "text", "yaml"}
)

// Parse reads the blocks of one page.
func Parse(file, text string) ([]Block, error) {
	var all []Block
	var errs []error
	section, above, within := "", "", false
	var block *Block
	for i, line := range strings.Split(text, "\n") {
		at := fmt.Sprintf("%s:%d", file, i+1)
		opens := fence.FindStringSubmatch(line)
		switch {
		case within && line == "```":
			if block != nil {
				all = append(all, *block)
			}
			block, within = nil, false
		case within:
			if block != nil {
				block.Text += line + "\n"
			}
		case opens != nil:
			within = true
			switch {
			case opens[1] == "sh":
				block = &Block{Page: file, Section: section, Line: i + 2}
				if err := block.mark(above); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", at, err))
				}
			case !slices.Contains(languages, opens[1]):
				errs = append(errs, fmt.Errorf("%s: the language %q; commands are \"sh\", all else is one of %q", at, opens[1], languages))
			}
		case disguised.MatchString(line):
			errs = append(errs, fmt.Errorf("%s: begin a block with ``` at the start of its line", at))
		case heading.MatchString(line):
			section = heading.FindStringSubmatch(line)[1]
		}
		above = line
	}
	if within {
		errs = append(errs, fmt.Errorf("%s: the last block has no end", file))
	}
	return all, errors.Join(errs...)
}

// mark takes the comment that stands above the block, if it is one.
func (b *Block) mark(above string) error {
	found := comment.FindStringSubmatch(above)
	if found == nil {
		return nil
	}
	place, reason, _ := strings.Cut(found[1], ":")
	b.Place, b.Reason = Place(place), strings.TrimSpace(reason)
	switch b.Place {
	case OnHost, Systemd:
		return nil
	case Nowhere:
		if b.Reason == "" {
			return errors.New("the block is not executed, and the comment above it does not say why")
		}
		return nil
	default:
		return fmt.Errorf("the comment %q above a block of commands means nothing", found[1])
	}
}
