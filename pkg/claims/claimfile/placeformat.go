// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// placeField is the name of the member with the place.
const placeField = "place"

// placeFields are the known fields of the place; other fields are written back unchanged.
var placeFields = []string{"cluster", "host"}

// recordedPlace is a place as read from a file.
type recordedPlace struct {
	claims.Place
	// found is the place's encoded member of the file; nil if there is none.
	found claims.Record
	extra map[string]json.RawMessage
}

// decodePlace reads the file's place field; nil means none. A place that cannot be read
// is written back unchanged: it does not make the rows unreadable.
func decodePlace(raw json.RawMessage) (recordedPlace, error) {
	if raw == nil {
		return recordedPlace{}, nil
	}
	found, err := encodeMember(placeField, raw)
	if err != nil {
		return recordedPlace{}, fmt.Errorf("encode the place of the claims table: %w", err)
	}
	r := recordedPlace{found: found}
	fields, err := decodeObject(raw)
	if err != nil || json.Unmarshal(raw, &r.Place) != nil || r.Place == (claims.Place{}) {
		r.Place = claims.Place{Cluster: claims.UnreadableCluster}
		return r, nil
	}
	r.extra = withoutFields(fields, placeFields)
	return r, nil
}

// member renders p as a member of the file; nil if there is no place. An unchanged place
// is written back as it was read. A changed one keeps the fields that another build wrote
// into it.
func (r recordedPlace) member(p claims.Place) (claims.Record, error) {
	if p == r.Place {
		return r.found, nil
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if len(r.extra) > 0 {
		fields, err := decodeObject(raw)
		if err != nil {
			return nil, err
		}
		maps.Copy(fields, r.extra)
		if raw, err = json.Marshal(fields); err != nil {
			return nil, err
		}
	}
	return encodeMember(placeField, raw)
}
