// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"os"
	"testing"
)

// TestProgramIsSmall detects a dependency that calls methods by name at run time, as
// text/template does. The linker then keeps every method of every type, and the program
// grows by more than half.
func TestProgramIsSmall(t *testing.T) {
	const limit = 50 << 20
	program, err := os.Stat(*binary)
	if err != nil {
		t.Fatal(err)
	}
	if program.Size() > limit {
		t.Errorf("%s has %d bytes, more than %d: the calls marked ReflectMethod in the output of go build -ldflags=-dumpdep ./cmd/vk-sandbox show which dependency keeps the linker from dropping methods",
			*binary, program.Size(), limit)
	}
}
