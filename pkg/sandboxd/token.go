// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"errors"
	"fmt"
)

// redacted stands wherever a Token would have been printed.
const redacted = "[redacted]"

// errTokenMarshalled reports an attempt to encode a Token.
var errTokenMarshalled = errors.New("refusing to marshal a sandboxd token: use Reveal where the credential itself is meant")

// Token is a bearer credential: the node API token, or the release token of
// one sandbox. Printing it in any format gives a placeholder and marshalling
// it is an error, so that a token in a log or a status takes an explicit
// [Token.Reveal] (DESIGN rule 8).
type Token struct{ secret string }

// NewToken wraps a credential.
func NewToken(secret string) Token { return Token{secret: secret} }

// Reveal returns the credential. Only the request that presents it and the
// claims file that keeps it have a reason to call this.
func (t Token) Reveal() string { return t.secret }

// Empty reports whether there is no credential.
func (t Token) Empty() bool { return t.secret == "" }

// String implements [fmt.Stringer] without the credential.
func (t Token) String() string { return redacted }

// GoString implements [fmt.GoStringer] without the credential.
func (t Token) GoString() string { return redacted }

// Format implements [fmt.Formatter], so that no verb, %x and %d among them,
// reaches the unexported field by reflection.
func (t Token) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// MarshalLog implements logr.Marshaler without the credential.
func (t Token) MarshalLog() any { return redacted }

// MarshalText fails: encoders that would embed the token get an error instead.
func (t Token) MarshalText() ([]byte, error) { return nil, errTokenMarshalled }

// MarshalJSON fails for the same reason.
func (t Token) MarshalJSON() ([]byte, error) { return nil, errTokenMarshalled }
