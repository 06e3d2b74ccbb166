// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "net/http"

type info struct {
	Pools      []poolInfo `json:"pools"`
	Claimed    int        `json:"claimed"`
	Hibernated int        `json:"hibernated"`
	Archived   int        `json:"archived"`
	Peers      []string   `json:"peers"`
	Draining   bool       `json:"draining"`
}

type poolInfo struct {
	Key       Key  `json:"key"`
	Warm      int  `json:"warm"`
	Refilling int  `json:"refilling"`
	Target    int  `json:"target"`
	Golden    bool `json:"golden"`
}

// info serves GET /v1/info. The hibernated are among the claimed; the archived are not.
func (c *call) info() (reply, error) {
	d := c.daemon
	i := info{Pools: []poolInfo{}, Peers: []string{}}
	err := d.do(func() error {
		i.Draining = d.draining
		i.Peers = append(i.Peers, d.limits.peers...)
		for _, p := range d.pools {
			pi := poolInfo{Key: p.Key, Warm: len(p.warm), Target: p.Target, Golden: !p.NoGolden}
			if !d.draining && pi.Warm < pi.Target {
				pi.Refilling = 1
			}
			i.Pools = append(i.Pools, pi)
		}
		for _, v := range d.claims() {
			switch v.state() {
			case StateArchived:
				i.Archived++
			case StateHibernated:
				i.Hibernated++
				i.Claimed++
			default:
				i.Claimed++
			}
		}
		return nil
	})
	if err != nil {
		return reply{}, err
	}
	return ok(i)
}

// healthz serves GET /healthz.
func (c *call) healthz() (reply, error) {
	return reply{status: http.StatusOK, body: []byte("ok"), plain: true}, nil
}
