// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Nodes reads Node objects; client-go's typed client is one.
type Nodes interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*corev1.Node, error)
}

// ReadNode reads the Node that owns the node's objects. Any recent copy will do, so
// the API server may answer from its cache; a copy from before a re-creation is made
// good by a later cycle, or when the object is collected. An error is a [*StepError].
func ReadNode(ctx context.Context, nodes Nodes, name string) (*corev1.Node, error) {
	node, err := nodes.Get(ctx, name, metav1.GetOptions{ResourceVersion: "0"})
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
