// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// TokenSource supplies the node API token.
type TokenSource interface {
	// Token returns the token to present now.
	Token() Token
	// Refresh looks for a newer token after sandboxd has refused the present
	// one, and reports whether there is one.
	Refresh() (changed bool, err error)
}

// StaticToken is a TokenSource that never changes. The empty token means that
// no Authorization header is sent.
type StaticToken Token

// Token implements [TokenSource].
func (s StaticToken) Token() Token { return Token(s) }

// Refresh implements [TokenSource]: there is never a newer token.
func (s StaticToken) Refresh() (bool, error) { return false, nil }

// fileToken reads the token at start, and again only when sandboxd refuses it.
type fileToken struct {
	path    string
	current atomic.Pointer[Token]
}

// FileToken reads the node API token from a file, surrounding white space
// trimmed (configuration, --sandboxd-token-file). The file is read once here,
// and once more whenever sandboxd refuses the token it held, so that a rotated
// token is taken up without a restart. A missing or empty file is an error.
func FileToken(path string) (TokenSource, error) {
	f := &fileToken{path: path}
	token, err := f.read()
	if err != nil {
		return nil, err
	}
	f.current.Store(&token)
	return f, nil
}

func (f *fileToken) read() (Token, error) {
	raw, err := os.ReadFile(f.path)
	if err != nil {
		return Token{}, fmt.Errorf("read the sandboxd token file: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return Token{}, fmt.Errorf("read the sandboxd token file %s: %w", f.path, errors.New("it is empty; put the node API token in it"))
	}
	return NewToken(secret), nil
}

// Token implements [TokenSource].
func (f *fileToken) Token() Token { return *f.current.Load() }

// Refresh implements [TokenSource].
func (f *fileToken) Refresh() (bool, error) {
	token, err := f.read()
	if err != nil {
		return false, err
	}
	if token == f.Token() {
		return false, nil
	}
	f.current.Store(&token)
	return true, nil
}
