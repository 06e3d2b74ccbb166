// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

const (
	// IDPrefix starts the id of every VM.
	IDPrefix = "sb_"
	// TokenPrefix starts every sandbox token, so that a test can look for leaked ones by pattern.
	TokenPrefix = "sbt_"
)

// random draws ids, tokens and latencies from one reader, one draw at a time.
type random struct {
	mu sync.Mutex
	r  io.Reader
}

func (r *random) bytes(n int) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := make([]byte, n)
	if _, err := io.ReadFull(r.r, b); err != nil {
		return nil, fmt.Errorf("read the random source: %w", err)
	}
	return b, nil
}

func (r *random) text(prefix string, n int) (string, error) {
	b, err := r.bytes(n)
	return prefix + hex.EncodeToString(b), err
}

func (r *random) between(span config.Range) (time.Duration, error) {
	if span.Max <= span.Min {
		return span.Min, nil
	}
	b, err := r.bytes(8)
	if err != nil {
		return 0, err
	}
	width := uint64(span.Max-span.Min) + 1
	return span.Min + time.Duration(binary.LittleEndian.Uint64(b)%width), nil
}
