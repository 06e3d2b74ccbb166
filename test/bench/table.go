// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
	"github.com/cocoonstack/vk-sandbox/test/bench/results"
)

// The sizes of the table that are measured, and how many commits share the disk.
const (
	rowsUsual = 2_000
	rowsLarge = 10_000
	inFlight  = 64
)

// measureTable commits changes of rows to a table on the disk that the daemon
// had its own on.
func measureTable(ctx context.Context, o *options, c *cluster.Cluster, r *results.Report) error {
	results.Logf("claims table")
	usual, err := fillTable(filepath.Join(c.Dir, "table-usual"), rowsUsual)
	if err != nil {
		return err
	}
	large, err := fillTable(filepath.Join(c.Dir, "table-large"), rowsLarge)
	if err != nil {
		return err
	}
	// In turns, so that another user of the disk troubles each alike.
	var one, bare, grown []float64
	for i := range o.few() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, t := range []struct {
			do   func() error
			took *[]float64
		}{
			{func() error { return usual.commit(i) }, &one},
			{usual.writeBare, &bare},
			{func() error { return large.commit(i) }, &grown},
		} {
			begun := time.Now()
			if err := t.do(); err != nil {
				return err
			}
			*t.took = append(*t.took, time.Since(begun).Seconds())
		}
	}
	alone, err := usual.rate(ctx, 1, o.few())
	if err != nil {
		return err
	}
	shared, err := usual.rate(ctx, inFlight, inFlight*max(2, o.few()/2))
	if err != nil {
		return err
	}
	r.Ours(rowOne, results.Median(one))
	r.Other(rowOne, results.Median(bare))
	r.Ours(rowGrowth, results.Median(grown))
	r.Other(rowGrowth, results.Median(one))
	r.Ours(rowParallel, shared)
	r.Other(rowParallel, alone)
	return nil
}

// filled is a table in which each row is as the daemon writes one.
type filled struct {
	*claims.Table
	path string
	rows int
	// content is the table's file once it is filled.
	content []byte
}

func fillTable(dir string, rows int) (*filled, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := &filled{path: filepath.Join(dir, "claims.json"), rows: rows}
	var err error
	if f.Table, err = claims.Open(claimfile.New(claimfile.OS(), f.path), time.Now()); err != nil {
		return nil, err
	}
	var group errgroup.Group
	for i := range rows {
		group.Go(func() error { return f.Add(f.key(i), newRow(i), nil) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	f.content, err = os.ReadFile(f.path)
	return f, err
}

func (f *filled) key(i int) string { return cluster.Name + "/" + cluster.PodName(1, i%f.rows) }

func claimID(i int) string { return fmt.Sprintf("sb_%016x", i) }

func newRow(i int) claims.Row {
	now := time.Now()
	return claims.NewRow(sandboxd.Claim{
		ID: claimID(i), Token: sandboxd.NewToken(fmt.Sprintf("%064x", i)),
		OwnerAddr: "192.168.100.100:7777", Deadline: now.Add(24 * time.Hour),
	}, newHolder(i), now)
}

func newHolder(i int) claims.Holder {
	return claims.Holder{PodUID: uuid.NewUUID(), Controller: &claims.Owner{
		APIVersion: cluster.Sandboxes.GroupVersion().String(), Kind: "Sandbox", Name: cluster.PodName(1, i), UID: types.UID(fmt.Sprintf("%036x", i)),
	}}
}

// commit gives a claim another Pod, and returns when that is durable.
func (f *filled) commit(i int) error {
	i %= f.rows
	return f.Bind(f.key(i), claimID(i), newHolder(i))
}

// rate is how many commits land in a second with so many in flight.
func (f *filled) rate(ctx context.Context, inFlight, commits int) (float64, error) {
	group, ctx := errgroup.WithContext(ctx)
	begun := time.Now()
	for worker := range inFlight {
		group.Go(func() error {
			for i := worker; i < commits && ctx.Err() == nil; i += inFlight {
				if err := f.commit(i); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	err := group.Wait()
	return float64(commits) / time.Since(begun).Seconds(), err
}

// writeBare replaces a file by one of the table's bytes, as durably as can be
// and with nothing else done.
func (f *filled) writeBare() error {
	target := f.path + ".bare"
	file, err := os.OpenFile(target+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(f.content); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(target+".tmp", target); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(target))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
