// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The defaults of the claim axes.
const (
	DefaultNet  = "none"
	DefaultSize = "small"
)

// Key names a pool: the three axes of a claim.
type Key struct {
	Template string `json:"template"`
	Net      string `json:"net"`
	Size     string `json:"size"`
}

// String renders the key as the --pools flag reads it.
func (k Key) String() string {
	return k.Template + ",net=" + k.Net + ",size=" + k.Size
}

// WithDefaults returns the key with the default of each axis that is empty, except the template.
func (k Key) WithDefaults() Key {
	if k.Net == "" {
		k.Net = DefaultNet
	}
	if k.Size == "" {
		k.Size = DefaultSize
	}
	return k
}

// Validate returns what is wrong with a key that has its defaults.
func (k Key) Validate() error {
	if k.Template == "" {
		return errors.New("template is required")
	}
	switch k.Size {
	case "small", "medium", "large":
		return nil
	}
	return fmt.Errorf("unknown size %q: use small, medium or large", k.Size)
}

// Pool is the configuration of one warm pool.
type Pool struct {
	Key
	// Target is the number of warm VMs that refilling aims at. A fresh node starts with that many.
	Target int `json:"target"`
	// NoGolden makes a warm miss boot cold, because there is no golden snapshot to clone.
	NoGolden bool `json:"no_golden,omitempty"`
}

// ValidatePools returns what is wrong with a set of pools whose keys have their defaults.
func ValidatePools(set []Pool) error {
	seen := map[Key]bool{}
	for _, p := range set {
		if err := p.validate(); err != nil {
			return err
		}
		if seen[p.Key] {
			return fmt.Errorf("pool %v is configured twice", p.Key)
		}
		seen[p.Key] = true
	}
	return nil
}

func (p Pool) validate() error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("pool %v: %w", p.Key, err)
	}
	if p.Target < 0 {
		return fmt.Errorf("pool %v: target %d is negative", p.Key, p.Target)
	}
	return nil
}

// ParsePool reads TEMPLATE[,net=NET][,size=SIZE][,target=N][,golden=BOOL]. An image name may hold ':' and '/'.
func ParsePool(s string) (Pool, error) {
	parts := strings.Split(s, ",")
	p := Pool{Key: Key{Template: strings.TrimSpace(parts[0])}}
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return Pool{}, fmt.Errorf("pool %q: %q is not NAME=VALUE", s, part)
		}
		var err error
		switch name {
		case "net":
			p.Net = value
		case "size":
			p.Size = value
		case "target":
			p.Target, err = strconv.Atoi(value)
		case "golden":
			var golden bool
			golden, err = strconv.ParseBool(value)
			p.NoGolden = !golden
		default:
			err = errors.New("unknown name; use net, size, target or golden")
		}
		if err != nil {
			return Pool{}, fmt.Errorf("pool %q: %s: %w", s, name, err)
		}
	}
	p.Key = p.WithDefaults()
	return p, p.validate()
}
