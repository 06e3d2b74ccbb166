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

// redacted stands wherever a Token would have been printed.
const redacted = "[redacted]"

// errTokenMarshalled reports an attempt to encode a Token.
var errTokenMarshalled = errors.New("refusing to marshal a sandboxd token: use Reveal where the credential itself is meant")

// Token is a bearer credential: the node API token, or the release token of
// one sandbox. Printing it in any format gives a placeholder and marshalling
// it is an error, so that a token in a log or a status takes an explicit
// [Token.Reveal] (rule 8 of docs/architecture.md). Tokens are comparable.
//
// The credential is behind a pointer: fmt reaches a Token in an unexported
// field of another type by reflection alone, past the methods below, and
// prints a pointer where it would print a string.
type Token struct{ secret unique.Handle[string] }

// NewToken wraps a credential. The empty one is the zero Token.
func NewToken(secret string) Token {
	if secret == "" {
		return Token{}
	}
	return Token{secret: unique.Make(secret)}
}

// Reveal returns the credential. Only the request that presents it and the
// claims file that keeps it have a reason to call this.
func (t Token) Reveal() string {
	if t.Empty() {
		return ""
	}
	return t.secret.Value()
}

// Empty reports whether there is no credential.
func (t Token) Empty() bool { return t == Token{} }

// sendable reports whether a header can carry the credential.
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
