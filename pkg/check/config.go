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
	// parallel is how many nodes are checked at a time.
	parallel = 16
	// pollInterval is how often the API server is asked.
	pollInterval = time.Second
	// cleanupTime is how long Run stays after its time is over, to see its Pods go.
	cleanupTime = 30 * time.Second
	// maxTimeout keeps the lease of a check's claim well below sandboxd's longest.
	maxTimeout = time.Hour
)

// ClaimStatuses reads what the nodes publish about their claims.
type ClaimStatuses interface {
	Get(ctx context.Context, name string, opts metav1.GetOptions) (*v1alpha1.NodeClaimStatus, error)
}

// Config says what is to be proven, and by what means.
type Config struct {
	// Namespace is where the Pods are made.
	Namespace string
	// Nodes selects the virtual nodes.
	Nodes labels.Selector
	// DaemonSet is that of the daemons, in Namespace: all its Pods have to be
	// Ready, and as many virtual nodes are wanted. Empty: at least one node is.
	DaemonSet string
	// Template is the template axis of the claims. Net and Size
	// are theirs too; empty means sandboxd's default.
	Template, Net, Size string
	// Owner, where it is set, takes the Pods along when it goes. It lives in
	// Namespace and must not be a controller, for the Pods are to be bare.
	Owner *metav1.OwnerReference
	// Timeout bounds the whole check, but for cleaning up.
	Timeout time.Duration
	// Client needs get on the DaemonSet, list on nodes, and get, create and
	// delete on Pods.
	Client kubernetes.Interface
	// Statuses is nil where the nodes publish no NodeClaimStatus. Then the end of
	// the Pod stands for the end of the claim.
	Statuses ClaimStatuses
	// AxesHint says where Template, Net and Size are set, and StatusHint how nodes
	// are checked that publish no NodeClaimStatus. Errors have them; both may be empty.
	AxesHint, StatusHint string
	// Out takes a line for each step.
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
