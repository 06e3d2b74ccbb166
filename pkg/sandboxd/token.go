// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"errors"
	"fmt"
	"strings"
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
// [Token.Reveal] (DESIGN rule 8). Tokens are comparable.
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
