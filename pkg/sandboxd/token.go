// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unicode"
	"unique"
)

// redacted is printed in place of a Token.
const redacted = "[redacted]"

// errTokenMarshalled reports an attempt to encode a Token.
var errTokenMarshalled = errors.New("refusing to marshal a sandboxd token: use Reveal where the credential itself is meant")

// Token is a bearer credential: the node API token, or the release token of one sandbox.
// Every print format gives a placeholder, and marshalling is an error, so that only an
// explicit [Token.Reveal] can put a token into a log or a status (rule 8 of
// docs/architecture.md). Tokens are comparable.
//
// The credential is behind a pointer: fmt bypasses the methods below for a Token in an
// unexported field, and then prints the pointer instead of the string.
type Token struct{ secret unique.Handle[string] }

// NewToken wraps a credential. The empty one is the zero Token.
func NewToken(secret string) Token {
	if secret == "" {
		return Token{}
	}
	return Token{secret: unique.Make(secret)}
}

// Reveal returns the credential. Only the request that presents it and the claims file
// that stores it may call this.
func (t Token) Reveal() string {
	if t.Empty() {
		return ""
	}
	return t.secret.Value()
}

// Empty reports whether there is no credential.
func (t Token) Empty() bool { return t == Token{} }

// sendable reports whether a header can contain the credential.
func (t Token) sendable() bool { return !strings.ContainsFunc(t.Reveal(), unicode.IsControl) }

// String implements [fmt.Stringer] without the credential.
func (t Token) String() string { return redacted }

// Format implements [fmt.Formatter] without the credential, for every verb.
func (t Token) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// MarshalLog implements logr.Marshaler without the credential.
func (t Token) MarshalLog() any { return redacted }

// MarshalText fails: encoders that would embed the token get an error instead.
func (t Token) MarshalText() ([]byte, error) { return nil, errTokenMarshalled }

// MarshalJSON fails for the same reason.
func (t Token) MarshalJSON() ([]byte, error) { return nil, errTokenMarshalled }

// TokenSource supplies the node API token.
type TokenSource interface {
	// Token returns the token to present now.
	Token() Token
	// Refresh looks for another token after sandboxd refused one, and reports whether
	// Token now returns a different one.
	Refresh(refused Token) (changed bool, err error)
}

// StaticToken is a TokenSource that never changes. With the empty token no Authorization
// header is sent.
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

// FileToken returns a source that reads the node API token from a file and trims
// surrounding white space. The file is read now, and again whenever sandboxd refuses the
// current token, so that a rotated token works without a restart. A missing or empty file
// is an error.
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

// Refresh implements [TokenSource]. It compares with the refused token, because of
// several concurrent refusals only the first finds the file newer than the current token.
func (f *fileToken) Refresh(refused Token) (bool, error) {
	token, err := f.read()
	if err != nil {
		return false, err
	}
	f.current.Store(&token)
	return token != refused, nil
}
