// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"net/http"
)

// Release destroys the sandbox with its own token. Nil means that sandboxd confirmed it
// with the status 204. An error of class [NotFound] means that the id is unknown or that
// the token is wrong; the node's index distinguishes the two.
func (cl *Client) Release(ctx context.Context, id string, token Token) error {
	path, err := sandboxPath(opRelease, id)
	if err != nil {
		return err
	}
	return cl.do(ctx, call{
		op:      opRelease,
		method:  http.MethodPost,
		path:    path + "/release",
		token:   &token,
		success: http.StatusNoContent,
	}, nil)
}

// ReleaseByID destroys the sandbox with the node API token, whatever its own token is.
// Nil means that sandboxd confirmed it. An error of class [NotFound] means that the id is
// unknown, because this token is valid for every sandbox. The caller must have read the
// index and know that the id is still its own sandbox.
func (cl *Client) ReleaseByID(ctx context.Context, id string) error {
	path, err := sandboxPath(opReleaseByID, id)
	if err != nil {
		return err
	}
	return cl.do(ctx, call{
		op:      opReleaseByID,
		method:  http.MethodPost,
		path:    path + "/release",
		success: http.StatusNoContent,
	}, nil)
}
