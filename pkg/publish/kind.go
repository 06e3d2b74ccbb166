// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Kind describes a kind of object for logs and errors.
type Kind struct {
	// Name and Plural are its names in the API: NodeInventory, nodeinventories.
	Name, Plural string
	// Off is [Config.Off].
	Off string
	// Logger is the logger's name, and Items the log key for the number of items in the
	// object.
	Logger, Items string
	// MaxBytes is the size limit in log lines.
	MaxBytes int
	Messages Messages
}

// Messages are logged when a state begins.
type Messages struct {
	// Published: the first publication succeeded.
	Published string
	// Failed: publishing fails, or fails in another way than before.
	Failed string
	// Recovered: publishing works again.
	Recovered string
	// Repaired: someone else had changed or deleted the object.
	Repaired string
	// Truncated: items are left out to fit the size limit. Complete: that has ended.
	Truncated, Complete string
}

// ApplyFailure returns the error of a step that applies an object of this kind, with a
// hint if the API server's answer does not explain what to do.
func (k Kind) ApplyFailure(step string, err error) error {
	hint := ""
	switch {
	case apierrors.IsNotFound(err):
		hint = fmt.Sprintf("install the %s CRD", k.Name)
		if k.Off != "" {
			hint += ", or " + k.Off
		}
	case apierrors.IsForbidden(err):
		hint = fmt.Sprintf("the service account needs create and patch on %s", k.Plural)
	case strings.Contains(err.Error(), undeclared):
		hint = fmt.Sprintf("the installed %s CRD is of another version; install the one of this release", k.Name)
	}
	return Failed(step, err, hint)
}

// undeclared is the API server's text for a field that its CRD lacks.
const undeclared = "field not declared in schema"
