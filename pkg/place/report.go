// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

// ReadReport returns the mismatch reported by a daemon that does not accept the table at
// statePath, and whether there is a report. The daemon writes it while it waits for an
// approval; a daemon stopped meanwhile leaves it behind. A report about a recorded place
// other than the table's current one is out of date and is ignored.
func ReadReport(fsys claimfile.FS, statePath string, recorded claims.Place) (Status, bool, error) {
	data, err := fsys.ReadFile(statePath + claimfile.PlaceFileSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, false, nil
	}
	if err != nil {
		return Status{}, false, fmt.Errorf("read what the daemon found: %w", err)
	}
	var s Status
	if err := json.Unmarshal(data, &s); err != nil {
		return Status{}, false, fmt.Errorf("what the daemon found is damaged; restart the daemon, which writes %s%s again", statePath, claimfile.PlaceFileSuffix)
	}
	return s, s.Mismatch() && s.Recorded == recorded, nil
}

// writeReport writes the mismatch for [ReadReport], so that the commands on the host need
// neither the cluster nor the daemon's settings to explain it.
func (g *Guard) writeReport(s Status) error {
	data, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	return claimfile.ReplaceFile(g.config.FS, g.config.StatePath+claimfile.PlaceFileSuffix, data)
}

func (g *Guard) removeReport() error {
	if err := g.config.FS.Remove(g.config.StatePath + claimfile.PlaceFileSuffix); err != nil {
		return fmt.Errorf("remove the report beside the claims table: %w", err)
	}
	return nil
}
