// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import "context"

// Run calls [Server.Reap] and [Server.Refill] at the configured intervals until the context ends.
func (s *Server) Run(ctx context.Context) {
	cfg := s.env.cfg
	reap := cfg.Clock.NewTicker(cfg.ReapInterval)
	defer reap.Stop()
	refill := cfg.Clock.NewTicker(cfg.RefillInterval)
	defer refill.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-reap.C():
			_, err = s.Reap()
		case <-refill.C():
			_, err = s.Refill()
		}
		if err != nil {
			cfg.Logger.Error(err, "A background step failed; the next one tries again")
		}
	}
}
