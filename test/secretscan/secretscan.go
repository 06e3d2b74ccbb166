// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package secretscan finds secrets in the output of a program, in every encoding that a
// program is likely to use. It is for tests.
package secretscan

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Forms returns the texts that reveal the secret, by the name of their encoding. The
// base64 texts appear whatever precedes and follows the secret in the encoded text.
func Forms(secret string) map[string]string {
	quoted, err := json.Marshal(secret)
	if err != nil {
		panic(fmt.Sprintf("a string that is not encoded: %T", err)) // cannot be
	}
	forms := map[string]string{
		"plain":           secret,
		"hex":             hex.EncodeToString([]byte(secret)),
		"upper-case hex":  strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"spaced hex":      fmt.Sprintf("% x", secret),
		"list of bytes":   strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]"),
		"JSON bytes":      strings.ReplaceAll(strings.Trim(fmt.Sprintf("%d", []byte(secret)), "[]"), " ", ","),
		"JSON":            strings.Trim(string(quoted), "\""),
		"Go":              strings.Trim(strconv.Quote(secret), "\""),
		"URL query":       url.QueryEscape(secret),
		"URL path":        url.PathEscape(secret),
		"every byte in %": percent(secret),
	}
	for offset := range 3 {
		forms[fmt.Sprint("base64 at offset ", offset)] = inner(base64.RawStdEncoding, secret, offset)
		forms[fmt.Sprint("URL-safe base64 at offset ", offset)] = inner(base64.RawURLEncoding, secret, offset)
	}
	return forms
}

// Find returns the names of the encodings in which the text contains the secret; none if
// it does not.
func Find(text, secret string) []string {
	var found []string
	forms := Forms(secret)
	for _, name := range slices.Sorted(maps.Keys(forms)) {
		if strings.Contains(text, forms[name]) {
			found = append(found, name)
		}
	}
	return found
}

func percent(secret string) string {
	var b strings.Builder
	for i := range len(secret) {
		fmt.Fprintf(&b, "%%%02X", secret[i])
	}
	return b.String()
}

// inner is the part of the encoding that depends on the secret alone, if offset bytes,
// modulo three, precede it.
func inner(encoding *base64.Encoding, secret string, offset int) string {
	const bits, perDigit = 8, 6
	whole := encoding.EncodeToString([]byte(strings.Repeat("x", offset) + secret))
	first := (offset*bits + perDigit - 1) / perDigit
	last := (offset + len(secret)) * bits / perDigit
	return whole[first:last]
}
