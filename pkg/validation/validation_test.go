// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package validation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/validation"
)

func TestMissing(t *testing.T) {
	if errs := validation.Missing(map[string]bool{"table": false}); errs != nil {
		t.Errorf("errors %v", errs)
	}
	got := errors.Join(validation.Missing(map[string]bool{"table": true, "node": false, "client": true})...)
	if want := "no client given\nno table given"; got == nil || got.Error() != want {
		t.Errorf("error %v, want %q", got, want)
	}
}

func TestNodeName(t *testing.T) {
	for name, ok := range map[string]bool{"host-07-sandboxd": true, "host.example": true, "": false, "Host_1": false, strings.Repeat("a", 254): false} {
		err := validation.NodeName(name)
		if (err == nil) != ok {
			t.Errorf("%q: error %v, want an error: %v", name, err, !ok)
		}
		if err != nil && !strings.Contains(err.Error(), "cannot name an object: ") {
			t.Errorf("%q: error %v does not give the reason", name, err)
		}
	}
}
