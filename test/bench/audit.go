// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

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

// request is one that the API server has recorded.
type request struct {
	Verb     string
	Resource string
}

// writesPod reports whether it writes a Pod or a part of one.
func (r request) writesPod() bool {
	switch r.Verb {
	case "get", "list", "watch":
		return false
	}
	return r.Resource == "pods"
}

// requests are those of the daemon that the API server received from one moment
// to another. A watch counts when it begins.
func (c *cluster) requests(from, to time.Time) ([]request, error) {
	// One that has grown large has been renamed, and another begun.
	extension := filepath.Ext(c.info.AuditLog)
	files, err := filepath.Glob(strings.TrimSuffix(c.info.AuditLog, extension) + "*" + extension)
	if err != nil {
		return nil, err
	}
	var all []request
	seen := map[string]bool{}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		if info.ModTime().Before(from) {
			continue
		}
		found, err := requestsIn(file, from, to, seen)
		if err != nil {
			return nil, fmt.Errorf("read the audit log: %w", err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func requestsIn(file string, from, to time.Time, seen map[string]bool) ([]request, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const account = "system:serviceaccount:" + benchName + ":" + benchName
	var found []request
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !bytes.Contains(lines.Bytes(), []byte(account)) {
			continue
		}
		var event struct {
			AuditID                  string
			Verb                     string
			User                     struct{ Username string }
			ObjectRef                struct{ Resource string }
			RequestReceivedTimestamp time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, err
		}
		at := event.RequestReceivedTimestamp
		// A watch is recorded twice, when it begins and when it ends.
		if event.User.Username != account || at.Before(from) || at.After(to) || seen[event.AuditID] {
			continue
		}
		seen[event.AuditID] = true
		found = append(found, request{event.Verb, event.ObjectRef.Resource})
	}
	return found, lines.Err()
}
