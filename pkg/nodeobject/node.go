// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// NodeGetter returns the virtual node's Node. Any recent copy will do: one from before
// a re-creation is made good by a later cycle, or when the object is collected.
type NodeGetter func() (*corev1.Node, error)

// ReadNode returns the Node that owns the node's objects. An error is a [*StepError].
func ReadNode(get NodeGetter) (*corev1.Node, error) {
	node, err := get()
	if err != nil {
		return nil, nodeFailure(err)
	}
	return node, nil
}

// CheckConfig reports what is wrong with what every publisher is told: the virtual
// node's name, and the interval, which it calls by its name.
func CheckConfig(nodeName, intervalName string, interval time.Duration) error {
	var errs []error
	if problems := validation.IsDNS1123Subdomain(nodeName); len(problems) > 0 {
		errs = append(errs, fmt.Errorf("node name %q cannot name an object: %s", nodeName, strings.Join(problems, ", ")))
	}
	if interval <= 0 {
		errs = append(errs, fmt.Errorf("%s %v is not above zero: set one, such as 30s", intervalName, interval))
	}
	return errors.Join(errs...)
}
