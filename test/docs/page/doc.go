// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package page reads the commands out of the documentation, for the tests that
// execute them. A command is a fenced block of the language "sh". Unless a comment
// directly above it says otherwise, it is run in the top folder of the project,
// with a kubectl and helm that reach the cluster:
//
//	<!-- on the host -->            as root on the host that $HOST names
//	<!-- in systemd -->             as root on a host whose init is systemd
//	<!-- not executed: reason -->   nowhere, because of the reason
package page
