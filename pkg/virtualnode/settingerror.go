// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

// Setting is a field of [Config] that an operator can set.
type Setting string

// The settings that can keep a node from being served.
const (
	SettingNodeName   Setting = "NodeName"
	SettingListenAddr Setting = "ListenAddr"
	SettingCertFile   Setting = "CertFile" // with KeyFile
)

// SettingError says that the node cannot be served with the value that a setting has.
type SettingError struct {
	Setting Setting
	Err     error
}

// Error implements error.
func (e *SettingError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the value.
func (e *SettingError) Unwrap() error { return e.Err }
