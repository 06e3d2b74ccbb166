// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"github.com/cocoonstack/vk-sandbox/test/bench/results"
)

// measureBinary takes the size of the program.
func measureBinary(o *options, r *results.Report) error {
	if err := stripped(o.programs.Daemon); err != nil {
		return err
	}
	info, err := os.Stat(o.programs.Daemon)
	if err != nil {
		return err
	}
	r.Ours(rowBinary, float64(info.Size())/(1<<20))
	return nil
}

// stripped reports a program that still has its symbols.
func stripped(program string) error {
	f, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("read %s: %w", program, err)
	}
	defer f.Close()
	if symbols, err := f.Symbols(); !errors.Is(err, elf.ErrNoSymbols) {
		return fmt.Errorf("%s has %d symbols; build it with -ldflags '-s -w', as \"make build\" does", program, len(symbols))
	}
	return nil
}
