// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// application separates this program's host ids from ids that other programs derive from
// the same machine id. It must never change, because every table has the id.
const application = "vk-sandbox.cocoonstack.io/host-id"

// HostID returns an id of the host, a UUID, from its machine id file. The machine id
// itself is confidential (machine-id(5)), and the host's id is shown in the Node and in
// logs, so the machine id cannot be computed from it.
//
// The id is empty without an error if the host has no machine id: file is empty, the file
// is missing or empty, or the system has not been set up yet.
func HostID(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the machine id: %w", err)
	}
	machine := strings.TrimSpace(string(data))
	if machine == "" || machine == "uninitialized" {
		return "", nil
	}
	mac := hmac.New(sha256.New, []byte(application))
	mac.Write([]byte(machine)) // never fails
	id := mac.Sum(nil)[:16]
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // RFC 9562
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), nil
}
