// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract

import (
	"fmt"
	"strconv"
)

// DefaultTTLSeconds is the lease of a Pod without the ttl annotation:
// sandboxd's maximum for ordinary claims, 24 hours.
const DefaultTTLSeconds = 86400

// TTLSeconds returns the requested lease in seconds; ok is false if the annotations
// request none. 0 means sandboxd's default of five minutes. sandboxd caps longer leases.
// The error is an [*InvalidAnnotationError].
func TTLSeconds(annotations map[string]string) (ttl int64, ok bool, err error) {
	text, ok := annotations[AnnotationTTLSeconds]
	if !ok {
		return 0, false, nil
	}
	ttl, err = strconv.ParseInt(text, 10, 64)
	if err != nil || ttl < 0 {
		return 0, true, &InvalidAnnotationError{AnnotationTTLSeconds, fmt.Sprintf("%s is not a lease; want a whole number of seconds, 0 or more", quote(text))}
	}
	return ttl, true, nil
}
