// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/types"
)

// Place is where a table belongs: the cluster whose Pods and owners decide over
// its claims, and the host that runs its sandboxes. The zero Place is that of a
// table that has recorded none: a new one, or one of an older build.
type Place struct {
	// Cluster is the UID of the cluster's kube-system namespace.
	Cluster types.UID `json:"cluster,omitempty"`
	// Host is the host's id, empty while it is not known.
	Host string `json:"host,omitempty"`
}

// UnreadableCluster is the cluster of a table whose recorded place cannot be read.
// It equals no cluster's UID, so such a table counts as one of another cluster
// instead of one without a place, which any cluster could take over.
const UnreadableCluster types.UID = "unreadable"

// placeField is the member of the file that has the place.
const placeField = "place"

// placeFields are the names inside it; any other is kept as it came.
var placeFields = []string{"cluster", "host"}

// recordedPlace is a place with its form in the file.
type recordedPlace struct {
	Place
	// member is its part of the file, with its name; nil when there is none.
	member json.RawMessage
	extra  map[string]json.RawMessage
}

// decodePlace reads the file's place field; nil is none. One that cannot be read
// stays in the file as it came: it does not make the rows unreadable.
func decodePlace(raw json.RawMessage) (recordedPlace, error) {
	if raw == nil {
		return recordedPlace{}, nil
	}
	member, err := encodeMember(placeField, raw)
	if err != nil {
		return recordedPlace{}, fmt.Errorf("encode the place of the claims table: %w", err)
	}
	r := recordedPlace{member: member}
	fields, err := object(raw)
	if err != nil || json.Unmarshal(raw, &r.Place) != nil || r.Place == (Place{}) {
		r.Place = Place{Cluster: UnreadableCluster}
		return r, nil
	}
	r.extra = without(fields, placeFields)
	return r, nil
}

// encodePlace renders p, with the fields that another build wrote into the place
// before it.
func encodePlace(p Place, extra map[string]json.RawMessage) (recordedPlace, error) {
	raw, err := json.Marshal(p)
	if err != nil {
		return recordedPlace{}, err
	}
	if len(extra) > 0 {
		fields, err := object(raw)
		if err != nil {
			return recordedPlace{}, err
		}
		maps.Copy(fields, extra)
		if raw, err = json.Marshal(fields); err != nil {
			return recordedPlace{}, err
		}
	}
	member, err := encodeMember(placeField, raw)
	return recordedPlace{Place: p, member: member, extra: extra}, err
}

// Place returns the place that the table has recorded.
func (t *Table) Place() Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.place.Place
}

// SetPlace records where the table belongs. It returns nil once the file has it.
// On error the table keeps the place that it had, so that nobody acts on one that
// a restart would not find; call it again once the disk works.
func (t *Table) SetPlace(p Place) error {
	if p == (Place{}) {
		return errors.New("record the table's place: neither the cluster nor the host is given")
	}
	var before, after recordedPlace
	err := t.change(func() (err error) {
		if after, err = encodePlace(p, t.place.extra); err == nil {
			before, t.place = t.place, after
		}
		return err
	})
	if err == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if after.member != nil && t.place.Place == p {
		t.place = before
	}
	return fmt.Errorf("record the table's place: %w", err)
}

// ReadPlace returns the place that the table file at path has recorded. Like
// [Read] it takes no lock and writes nothing, and it fails as that does.
func ReadPlace(fsys FS, path string) (Place, error) {
	data, err := fsys.ReadFile(path)
	if err != nil {
		return Place{}, fmt.Errorf("read the claims table: %w", err)
	}
	c, err := decode(data)
	if err != nil {
		return Place{}, fmt.Errorf("read the claims table %s: %w", path, err)
	}
	return c.place.Place, nil
}
