// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/validation"
)

const (
	// parallel bounds the nodes that are checked at once.
	parallel = 16
	// pollInterval is the interval of requests to the API server.
	pollInterval = time.Second
	// cleanupTime is how long Run continues after its timeout to remove its Pods.
	cleanupTime = 30 * time.Second
	// maxTimeout keeps the lease of a check's claim well below sandboxd's longest.
	maxTimeout = time.Hour
)

// ClaimStatuses reads the claim statuses that the nodes publish.
type ClaimStatuses interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.NodeClaimStatus, error)
}

// Config configures a check.
type Config struct {
	// Namespace is the namespace of the check's Pods.
	Namespace string
	// Nodes selects the virtual nodes.
	Nodes labels.Selector
	// DaemonSet is the DaemonSet of the daemons, in Namespace: all its Pods must be
	// Ready, and as many virtual nodes must exist. If it is empty, at least one node must
	// exist.
	DaemonSet string
	// Template, Net and Size are the pool axes of the claims; empty Net or Size means
	// sandboxd's default.
	Template, Net, Size string
	// Owner, if set, owns the Pods, so that they are garbage-collected with it. It must
	// be in Namespace and must not be a controller, because the Pods must be bare.
	Owner *metav1.OwnerReference
	// Timeout bounds the whole check, except for cleaning up.
	Timeout time.Duration
	// Client needs get on the DaemonSet, list on nodes, and get, create and delete on
	// Pods.
	Client kubernetes.Interface
	// Statuses is nil if the nodes publish no NodeClaimStatus. Then the end of the Pod
	// counts as the end of the claim.
	Statuses ClaimStatuses
	// AxesHint names the settings of Template, Net and Size, and StatusHint the way to
	// check nodes that publish no NodeClaimStatus. They are added to errors; both may be
	// empty.
	AxesHint, StatusHint string
	// Out receives a line for each step.
	Out io.Writer
}

// validate reports everything that is wrong with the configuration.
func (c *Config) validate() error {
	errs := validation.Missing(map[string]bool{"namespace for the check's Pods": c.Namespace == "", "template that sandboxd has": c.Template == ""})
	if c.Nodes == nil || c.Nodes.Empty() {
		errs = append(errs, errors.New("no selector of the virtual nodes given: without one the check would run on ordinary nodes"))
	}
	if c.Timeout <= 0 || c.Timeout > maxTimeout {
		errs = append(errs, fmt.Errorf("the timeout is %s: it must be above zero and at most %s", c.Timeout, maxTimeout))
	}
	if c.Owner != nil && c.Owner.Controller != nil && *c.Owner.Controller {
		errs = append(errs, errors.New("the owner is a controller: the check's Pods would not be bare"))
	}
	return errors.Join(errs...)
}
