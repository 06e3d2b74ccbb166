// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// fileRow is the JSON format of a row. Only rows of the releasing list have key.
type fileRow struct {
	ID           string        `json:"id"`
	Token        string        `json:"token"`
	Address      string        `json:"address"`
	PodUID       types.UID     `json:"podUID"`
	Authority    types.UID     `json:"authority,omitempty"`
	PastPods     []types.UID   `json:"pastPods,omitempty"`
	ClaimedAt    time.Time     `json:"claimedAt,omitzero"`
	Deadline     time.Time     `json:"deadline,omitzero"`
	LeaseMovedAt time.Time     `json:"leaseMovedAt,omitzero"`
	WarnedOf     time.Time     `json:"warnedOf,omitzero"`
	Owner        *claims.Owner `json:"owner,omitempty"`
	Controller   *claims.Owner `json:"controller,omitempty"`
	RandomName   bool          `json:"randomName,omitempty"`
	PodDeletedAt time.Time     `json:"podDeletedAt,omitzero"`
	Key          string        `json:"key,omitempty"`
}

// rowFields are fileRow's field names; other fields are written back unchanged.
var rowFields = []string{
	"id", "token", "address", "podUID", "authority", "pastPods", "claimedAt", "deadline", "leaseMovedAt", "warnedOf",
	"owner", "controller", "randomName", "podDeletedAt", "key",
}

// decodeRow reads one row. Its optional fields may be unreadable: sandboxd knows them too,
// or no release needs them, and refusing to start because of one would block every other
// claim. The other fields identify who owns the sandbox and must be readable: without them
// a row would be taken for that of a bare Pod or of an older build, which have other
// verdicts.
func decodeRow(raw json.RawMessage) (claims.Row, string, error) {
	fields, err := decodeObject(raw)
	if err != nil {
		return claims.Row{}, "", damaged("the row is not an object")
	}
	f, unread, err := readRow(fields)
	if err != nil {
		return claims.Row{}, "", err
	}
	if f.ID == "" || f.Token == "" {
		return claims.Row{}, "", damaged("the row lacks its id or its token")
	}
	extra := withoutFields(fields, rowFields)
	for name, value := range unread {
		if extra == nil {
			extra = map[string]json.RawMessage{}
		}
		extra[name] = value
	}
	return claims.Row{
		ID: f.ID, Token: sandboxd.NewToken(f.Token), Address: f.Address,
		PodUID: f.PodUID, Authority: f.Authority, PastPods: f.PastPods,
		ClaimedAt: f.ClaimedAt, Deadline: f.Deadline, LeaseMovedAt: f.LeaseMovedAt, WarnedOf: f.WarnedOf,
		Owner: f.Owner, Controller: f.Controller,
		RandomName: f.RandomName, PodDeletedAt: f.PodDeletedAt,
		Unknown: extra,
	}, f.Key, nil
}

// readRow decodes a row's fields. It returns the optional fields that could not be read.
func readRow(fields map[string]json.RawMessage) (f fileRow, unread map[string]json.RawMessage, err error) {
	optional := map[string]any{
		"address": &f.Address, "pastPods": &f.PastPods, "claimedAt": &f.ClaimedAt, "deadline": &f.Deadline,
		"leaseMovedAt": &f.LeaseMovedAt, "warnedOf": &f.WarnedOf, "randomName": &f.RandomName, "podDeletedAt": &f.PodDeletedAt,
	}
	required := map[string]any{
		"id": &f.ID, "token": &f.Token, "podUID": &f.PodUID, "authority": &f.Authority,
		"owner": &f.Owner, "controller": &f.Controller, "key": &f.Key,
	}
	for name, to := range required {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, to) != nil {
			return fileRow{}, nil, damaged("the field %s of the row has the wrong type", name)
		}
	}
	for name, to := range optional {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, to) != nil {
			if unread == nil {
				unread = map[string]json.RawMessage{}
			}
			unread[name] = raw
		}
	}
	return f, unread, nil
}

// encodeRow renders a row for the file; key only for the releasing list.
func encodeRow(r claims.Row, key string) (claims.Record, error) {
	raw, err := json.Marshal(fileRow{
		ID: r.ID, Token: r.Token.Reveal(), Address: r.Address,
		PodUID: r.PodUID, Authority: r.Authority, PastPods: r.PastPods,
		ClaimedAt: r.ClaimedAt, Deadline: r.Deadline, LeaseMovedAt: r.LeaseMovedAt, WarnedOf: r.WarnedOf,
		Owner: r.Owner, Controller: r.Controller,
		RandomName: r.RandomName, PodDeletedAt: r.PodDeletedAt, Key: key,
	})
	if err != nil || len(r.Unknown) == 0 {
		return raw, err
	}
	fields, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	for name, value := range r.Unknown {
		// An unreadable field is replaced once its value is known.
		if own, ok := fields[name]; !ok || string(own) == `""` {
			fields[name] = value
		}
	}
	return json.Marshal(fields)
}
