// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import "syscall"

// dieWithParent has the kernel kill the daemon when the test ends in a way
// that leaves it no time, such as a panic or a time-out.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
