// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// tableFields are the known fields of the top level.
var tableFields = []string{"claims", "releasing", placeField}

// contents is a decoded table file.
type contents struct {
	// claims has the claims under pod keys, ordered by key, then the releasing list.
	claims []claims.Claim
	place  recordedPlace
	extra  map[string]json.RawMessage
}

// errDamaged is the base of every error about a file that is not a table. The decoder's
// own text is left out, because it can quote a token.
var errDamaged = errors.New("not a claims table; restore it from a copy, or move it away only when every sandbox it names may be lost")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), errDamaged)
}

// decode reads a table file. It accepts the format of older builds, but nothing that is
// truncated, padded or without a claims field: an empty file is not a table without
// claims. Two rows may name one sandbox: sandboxd can give out an id twice, and either
// row's token may be the valid one ([claims.Table.Holders]).
func decode(data []byte) (contents, error) {
	top, err := decodeObject(data)
	if err != nil {
		return contents{}, damaged("the file (%d bytes) is not one JSON object", len(data))
	}
	rawClaims, ok := top["claims"]
	if !ok {
		return contents{}, damaged("the claims field is missing")
	}
	var rows map[string]json.RawMessage
	if err := json.Unmarshal(rawClaims, &rows); err != nil {
		return contents{}, damaged("the claims field is not an object")
	}
	c := contents{claims: make([]claims.Claim, 0, len(rows))}
	for key, raw := range rows {
		row, _, err := decodeRow(raw)
		if err != nil {
			return contents{}, fmt.Errorf("claim %q: %w", key, err)
		}
		if ns, name, ok := strings.Cut(key, "/"); !ok || ns == "" || name == "" || strings.Contains(name, "/") {
			return contents{}, damaged("claim %q: the key is not <namespace>/<name>", key)
		}
		c.claims = append(c.claims, claims.Claim{Key: key, Row: row, State: row.ConfirmedState()})
	}
	slices.SortFunc(c.claims, func(a, b claims.Claim) int { return strings.Compare(a.Key, b.Key) })
	var releasing []json.RawMessage
	if raw, ok := top["releasing"]; ok {
		if err := json.Unmarshal(raw, &releasing); err != nil {
			return contents{}, damaged("the releasing field is not a list")
		}
	}
	c.claims = slices.Grow(c.claims, len(releasing))
	for i, raw := range releasing {
		row, key, err := decodeRow(raw)
		if err != nil {
			return contents{}, fmt.Errorf("releasing entry %d: %w", i, err)
		}
		c.claims = append(c.claims, claims.Claim{Key: key, Row: row, State: claims.Releasing})
	}
	if c.place, err = decodePlace(top[placeField]); err != nil {
		return contents{}, err
	}
	c.extra = withoutFields(top, tableFields)
	return c, nil
}

// decodeObject decodes data as one JSON object; null is not one.
func decodeObject(data []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if m == nil {
		return nil, errors.New("null")
	}
	return m, nil
}

// withoutFields returns the fields of m that are not in known; nil if there are none.
func withoutFields(m map[string]json.RawMessage, known []string) map[string]json.RawMessage {
	for _, name := range known {
		delete(m, name)
	}
	if len(m) == 0 {
		return nil
	}
	return m
}

// encodeMember renders a member of an object.
func encodeMember(name string, value []byte) (claims.Record, error) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	return slices.Concat(quoted, []byte(":"), value), nil
}

// appendTable renders the file from records that are already encoded and ordered: the
// members of the claims field, the releasing list, and further members. An encoder would
// read and check every row again for each change of one.
func appendTable(b []byte, held, releasing, extra []claims.Record) []byte {
	size := len(`{"claims":{},"releasing":[]}`)
	for _, parts := range [][]claims.Record{held, releasing, extra} {
		for _, part := range parts {
			size += len(part) + len(",")
		}
	}
	b = append(slices.Grow(b, size), `{"claims":{`...)
	b = append(appendList(b, held), '}')
	if len(releasing) > 0 {
		b = append(appendList(append(b, `,"releasing":[`...), releasing), ']')
	}
	for _, member := range extra {
		b = append(append(b, ','), member...)
	}
	return append(b, '}')
}

func appendList(b []byte, parts []claims.Record) []byte {
	for i, part := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, part...)
	}
	return b
}
