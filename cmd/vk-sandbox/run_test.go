// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/kubeletapi"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
)

// An error about a setting of the virtual node names the flag, and the variable that the
// value came from.
func TestErrorsOfTheNodeNameTheFlag(t *testing.T) {
	o := options{origins: program.Origins{"node-name": "VK_NODE_NAME"}}
	cause := errors.New("cause")
	for setting, want := range map[error]string{
		&nodeobject.NameTakenError{Err: cause}:   "--node-name (from VK_NODE_NAME): register: cause",
		&kubeletapi.AddressError{Err: cause}:     "--listen-addr: register: cause",
		&kubeletapi.CertificateError{Err: cause}: "--tls-cert: register: cause",
	} {
		err := o.withFlag(fmt.Errorf("register: %w", setting))
		if !errors.Is(err, cause) || err.Error() != want {
			t.Errorf("%T: %v, want %s", setting, err, want)
		}
	}
	if err := o.withFlag(net.ErrClosed); err != net.ErrClosed { //nolint:errorlint // the same one
		t.Errorf("another error became %v", err)
	}
	if err := o.withFlag(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}
