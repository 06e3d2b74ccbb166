// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package crash

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
