// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"errors"
	"fmt"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/validation"
)

// Config is what every publisher needs. All of it but Observe and Off is required.
type Config struct {
	// NodeName is the name of the virtual node, and so of the object.
	NodeName string
	// Interval is the least time between two publications.
	Interval time.Duration
	// Node returns the Node that owns the object.
	Node NodeGetter
	// Observe is called at the end of each cycle: with nil when the object is up to
	// date, whether or not there was anything to write. A cycle that the end of the
	// context cuts short is not observed.
	Observe func(err error)
	// Off tells a user how to turn the publication off, as the end of a sentence: "set
	// the interval to 0".
	Off string
}

// Validate reports everything that is wrong with the configuration, and each part
// of a source that is missing. The interval is called by the name given.
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
