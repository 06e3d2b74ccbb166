// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"net/http"
	"net/url"
)

// Release destroys the sandbox with its own token. A nil error means that
// sandboxd confirmed it. An error of class [NotFound] means that the id is
// unknown or that the token is wrong; the node's index tells the two apart.
func (cl *Client) Release(ctx context.Context, id string, token Token) error {
	return cl.do(ctx, call{
		op:     "release",
		method: http.MethodPost,
		path:   "/v1/sandboxes/" + url.PathEscape(id) + "/release",
		token:  &token,
	}, nil)
}
