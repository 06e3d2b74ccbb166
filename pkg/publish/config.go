// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"errors"
	"fmt"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/validation"
)

// Config configures every publisher. All fields but Observe and Off are required.
type Config struct {
	// NodeName is the name of the virtual node and of the published object.
	NodeName string
	// Interval is the least time between two publications.
	Interval time.Duration
	// Node returns the Node that owns the object.
	Node NodeGetter
	// Observe is called at the end of each cycle, with nil if the object is up to date,
	// even if nothing was written. A cycle that ctx cuts short is not observed.
	Observe func(err error)
	// Off tells a user how to disable the publication, in a form that ends a sentence:
	// "set the interval to 0".
	Off string
}

// Validate reports everything wrong with the configuration, and each part of a source
// that is missing. Errors use intervalName for the interval.
func (c Config) Validate(intervalName string, missing map[string]bool) error {
	var errs []error
	if err := validation.NodeName(c.NodeName); err != nil {
		errs = append(errs, err)
	}
	if c.Interval <= 0 {
		errs = append(errs, fmt.Errorf("%s %v is not above zero: set one, such as 30s", intervalName, c.Interval))
	}
	if c.Node == nil {
		errs = append(errs, errors.New("no node given"))
	}
	return errors.Join(append(errs, validation.Missing(missing)...)...)
}
