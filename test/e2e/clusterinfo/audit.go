// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Request is what the API server has recorded of one request: the part of its
// audit.k8s.io/v1 event that is looked at.
type Request struct {
	AuditID                     string
	Verb, RequestURI, UserAgent string
	User                        struct {
		Username string
		Extra    map[string][]string
	}
	// ObjectRef is empty when the request is about no resource.
	ObjectRef      struct{ APIGroup, Resource, Subresource string }
	ResponseStatus struct {
		Code    int
		Details struct {
			// Causes have their type as the reason, as in every Status.
			Causes []struct{ Reason string }
		}
	}
	RequestReceivedTimestamp time.Time
}

// ReadOnly reports whether the request asks to change nothing.
func (r Request) ReadOnly() bool {
	return r.Verb == "get" || r.Verb == "list" || r.Verb == "watch"
}

// Requests returns the requests of a user that the API server has received since a
// moment, in the order of its log. A watch, which the log has when it begins and
// when it ends, is returned as it began.
func (i *Info) Requests(username string, since time.Time) ([]Request, error) {
	// A log that has grown large has been renamed, and another begun.
	extension := filepath.Ext(i.AuditLog)
	files, err := filepath.Glob(strings.TrimSuffix(i.AuditLog, extension) + "-*" + extension)
	if err != nil {
		return nil, fmt.Errorf("find the audit log: %w", err)
	}
	var all []Request
	seen := map[string]bool{}
	for _, file := range append(files, i.AuditLog) {
		found, err := requestsIn(file, username, since)
		if err != nil {
			return nil, fmt.Errorf("read the audit log %s: %w", file, err)
		}
		for _, r := range found {
			if !seen[r.AuditID] {
				seen[r.AuditID] = true
				all = append(all, r)
			}
		}
	}
	return all, nil
}

func requestsIn(file, username string, since time.Time) ([]Request, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.ModTime().Before(since) {
		return nil, err
	}
	var found []Request
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(username)) {
			continue // without the cost of decoding it
		}
		var r Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, err
		}
		if r.User.Username == username && !r.RequestReceivedTimestamp.Before(since) {
			found = append(found, r)
		}
	}
	return found, lines.Err()
}
