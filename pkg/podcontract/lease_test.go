// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract_test

import (
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// An object without the annotation asks for no lease, which is not a lease of 0.
func TestTTLSeconds(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		ttl         int64
		ok, invalid bool
	}{
		"none":    {nil, 0, false, false},
		"zero":    {map[string]string{podcontract.AnnotationTTLSeconds: "0"}, 0, true, false},
		"an hour": {map[string]string{podcontract.AnnotationTTLSeconds: "3600"}, 3600, true, false},
		"text":    {map[string]string{podcontract.AnnotationTTLSeconds: "1h"}, 0, true, true},
	} {
		ttl, ok, err := podcontract.TTLSeconds(c.annotations)
		if ttl != c.ttl || ok != c.ok || (err != nil) != c.invalid {
			t.Errorf("%s: %d, %v, %v", name, ttl, ok, err)
		}
	}
}

func TestPoolKey(t *testing.T) {
	annotations := map[string]string{podcontract.AnnotationTemplate: image, podcontract.AnnotationSize: "large"}
	if got, err := podcontract.PoolKey(annotations); err != nil || got != (sandboxd.Key{Template: image, Size: "large"}) {
		t.Errorf("key %+v, error %v", got, err)
	}
	if got, err := podcontract.PoolKey(nil); err == nil || got != (sandboxd.Key{}) {
		t.Errorf("key %+v, error %v; want an error about the template", got, err)
	}
}
