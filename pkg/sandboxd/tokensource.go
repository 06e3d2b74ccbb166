// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// TokenSource supplies the node API token.
type TokenSource interface {
	// Token returns the token to present now.
	Token() Token
	// Refresh looks for another token after sandboxd has refused one, and
	// reports whether Token now returns another than the refused one.
	Refresh(refused Token) (changed bool, err error)
}

// StaticToken is a TokenSource that never changes. The empty token means that
// no Authorization header is sent.
type StaticToken Token

// Token implements [TokenSource].
func (s StaticToken) Token() Token { return Token(s) }

// Refresh implements [TokenSource]: there is never a newer token.
func (s StaticToken) Refresh(Token) (bool, error) { return false, nil }

// fileToken reads the token at start, and again only when sandboxd refuses it.
type fileToken struct {
	path    string
	current atomic.Pointer[Token]
}

// FileToken reads the node API token from a file, surrounding white space
// trimmed. The file is read once here, and once more whenever sandboxd refuses the token it held, so that a rotated
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
	token := NewToken(strings.TrimSpace(string(raw)))
	if token.Empty() {
		return Token{}, fmt.Errorf("read the sandboxd token file %s: it is empty; put the node API token in it", f.path)
	}
	if !token.sendable() {
		return Token{}, fmt.Errorf("read the sandboxd token file %s: it has more than one line or a control character; put the node API token alone in it", f.path)
	}
	return token, nil
}

// Token implements [TokenSource].
func (f *fileToken) Token() Token { return *f.current.Load() }

// Refresh implements [TokenSource]. What counts is the token that was refused,
// not the one held: of several calls refused at once, only the first finds the
// file newer than what is held.
func (f *fileToken) Refresh(refused Token) (bool, error) {
	token, err := f.read()
	if err != nil {
		return false, err
	}
	f.current.Store(&token)
	return token != refused, nil
}
