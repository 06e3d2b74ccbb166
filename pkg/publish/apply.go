// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// FieldManager owns the fields of a node's objects.
const FieldManager = "vk-sandbox"

// PatchOptions returns the options of an apply. It forces ownership of the fields,
// because the node is their only authority.
func PatchOptions() metav1.PatchOptions {
	force := true
	return metav1.PatchOptions{FieldManager: FieldManager, Force: &force}
}

// Client writes objects of type T by server-side apply; the generated typed clients
// implement it.
type Client[T any] interface {
	Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error)
}

// Apply applies the object, or a subresource of it, and returns the object as stored by
// the API server.
func Apply[T any](ctx context.Context, client Client[T], name string, object any, subresources ...string) (T, error) {
	data, err := json.Marshal(object)
	if err != nil {
		var none T
		return none, err
	}
	return client.Patch(ctx, name, types.ApplyPatchType, data, PatchOptions(), subresources...)
}
