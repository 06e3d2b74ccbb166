// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// object is a JSON object whose fields are kept as they were written.
type object = map[string]json.RawMessage

// Rewrite returns the body of an answer with the fault's fields set: in the rows of a list, elsewhere in the object itself.
func (f Fault) Rewrite(answer []byte) ([]byte, error) {
	var body object
	if err := json.Unmarshal(answer, &body); err != nil {
		return nil, fmt.Errorf("rewrite an answer: %w", err)
	}
	raw, isList := body["sandboxes"]
	if !isList {
		f.set(body)
	} else {
		rows, err := f.rewriteRows(raw)
		if err != nil {
			return nil, err
		}
		body["sandboxes"] = rows
	}
	return json.Marshal(body)
}

func (f Fault) rewriteRows(raw json.RawMessage) (json.RawMessage, error) {
	var rows []object
	// Of the rows only the names are read: an earlier fault may have made other fields odd.
	var names []struct {
		ID       string `json:"id"`
		ClaimRef string `json:"claim_ref"`
	}
	if err := errors.Join(json.Unmarshal(raw, &rows), json.Unmarshal(raw, &names)); err != nil {
		return nil, fmt.Errorf("rewrite a list: %w", err)
	}
	all := len(f.ClaimRefs)+len(f.Sandboxes)+f.Rows == 0
	for i, r := range rows {
		if all || i < f.Rows || slices.Contains(f.ClaimRefs, names[i].ClaimRef) || slices.Contains(f.Sandboxes, names[i].ID) {
			f.set(r)
		}
	}
	return json.Marshal(rows)
}

func (f Fault) set(o object) {
	for name, value := range f.Fields {
		if string(value) == "null" {
			delete(o, name)
		} else {
			o[name] = value
		}
	}
}

func (f Fault) validateRewrite() error {
	if f.Point != PointResponse {
		return errors.New("rewrite strikes at the response only")
	}
	if len(f.Fields) == 0 {
		return errors.New("rewrite: set fields")
	}
	for name, value := range f.Fields {
		if !json.Valid(value) {
			return fmt.Errorf("rewrite: field %q is not JSON", name)
		}
	}
	return nil
}
