// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// object is a JSON object whose fields are kept as they were written.
type object = map[string]json.RawMessage

// rewrite sets the fault's fields in a successful answer. Other answers stay as they are.
func (r *reply) rewrite(f Fault) error {
	if r.status != http.StatusOK || r.plain || r.truncated {
		return nil
	}
	var body object
	if err := json.Unmarshal(r.body, &body); err != nil {
		return fmt.Errorf("rewrite an answer: %w", err)
	}
	raw, isList := body["sandboxes"]
	if !isList {
		f.set(body)
	} else {
		rows, err := f.rewriteRows(raw)
		if err != nil {
			return err
		}
		body["sandboxes"] = rows
	}
	var err error
	r.body, err = json.Marshal(body)
	return err
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
