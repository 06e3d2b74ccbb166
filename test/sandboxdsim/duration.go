// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time.Duration that JSON holds as text, such as "1.5s".
type Duration time.Duration

func (d Duration) std() time.Duration { return time.Duration(d) }

// MarshalJSON implements json.Marshaler.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf(`a duration is text such as "1.5s": %w`, err)
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}
