// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

const secret = "tok/en+with \"odd\" bytes~é-7f3a91"

// Each way to write a text that has the secret somewhere in it is found, at
// every place.
func TestFind(t *testing.T) {
	encodings := map[string]func(string) string{
		"plain":           func(s string) string { return s },
		"base64":          func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"raw base64":      func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
		"URL-safe base64": func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
		"hex":             func(s string) string { return hex.EncodeToString([]byte(s)) },
		"%x":              func(s string) string { return fmt.Sprintf("%x", s) },
		"%X":              func(s string) string { return fmt.Sprintf("%X", s) },
		"% x":             func(s string) string { return fmt.Sprintf("% x", s) },
		"%q":              func(s string) string { return fmt.Sprintf("%q", s) },
		"%v of bytes":     func(s string) string { return fmt.Sprintf("%d", []byte(s)) },
		"URL query":       url.QueryEscape,
		"URL path":        url.PathEscape,
		"JSON":            func(s string) string { b, _ := json.Marshal(s); return string(b) },
		"JSON of bytes":   func(s string) string { b, _ := json.Marshal([]byte(s)); return string(b) },
		"JSON of numbers": func(s string) string { return strings.ReplaceAll(fmt.Sprintf("%d", []byte(s)), " ", ",") },
		"%HH":             percent,
	}
	for name, encode := range encodings {
		for before := range 5 {
			text := "says: " + encode(strings.Repeat("b", before)+secret+" and more") + "."
			if Find(text, secret) == nil {
				t.Errorf("%s after %d bytes is not found in %s", name, before, text)
			}
			if other := "says: " + encode(strings.Repeat("b", before)+secret[1:]+" and more") + "."; Find(other, secret) != nil {
				t.Errorf("%s after %d bytes: %q is found where it is not", name, before, Find(other, secret))
			}
		}
	}
}
