// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
)

// An error about a setting of the virtual node names the flag, and the variable that the
// value came from.
func TestErrorsOfTheNodeNameTheFlag(t *testing.T) {
	o := options{origins: program.Origins{"node-name": "VK_NODE_NAME"}}
	cause := errors.New("cause")
	for setting, want := range map[virtualnode.Setting]string{
		virtualnode.SettingNodeName:   "--node-name (from VK_NODE_NAME): register: cause",
		virtualnode.SettingListenAddr: "--listen-addr: register: cause",
		virtualnode.SettingCertFile:   "--tls-cert: register: cause",
	} {
		err := o.withFlag(fmt.Errorf("register: %w", &virtualnode.SettingError{Setting: setting, Err: cause}))
		if !errors.Is(err, cause) || err.Error() != want {
			t.Errorf("%s: %v, want %s", setting, err, want)
		}
	}
	if err := o.withFlag(net.ErrClosed); err != net.ErrClosed { //nolint:errorlint // the same one
		t.Errorf("another error became %v", err)
	}
	if err := o.withFlag(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}
