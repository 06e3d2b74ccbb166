// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// Paths in a node.
const (
	sandboxdProgram = "/usr/local/bin/sandboxd"
	sandboxdToken   = "/etc/sandboxd-token"
	sandboxdUnit    = "/etc/systemd/system/sandboxd.service"
)

func (c *Cluster) tokenFile() string { return filepath.Join(c.State, "sandboxd-token") }

// ensureSandboxd starts the program as a host's sandboxd, unless just that runs
// already, and notes in the host how to reach it. With no program it keeps what
// an earlier call has put there.
func (c *Cluster) ensureSandboxd(ctx context.Context, h *cluster.Host, program string) error {
	// The node need not have the file.
	installed, err := c.Run(ctx, "", "docker", "exec", h.Name, "sh", "-c", "cat "+sandboxdUnit+" 2>/dev/null || true")
	if err != nil {
		return err
	}
	if program == "" && installed == "" {
		return nil
	}
	made := installedProgram(installed)
	if program != "" {
		if made, err = digest(program); err != nil {
			return err
		}
	}
	token, err := digest(c.tokenFile())
	if err != nil {
		return err
	}
	h.SandboxdAddr, h.SandboxdTokenFile = h.IP+":7777", c.tokenFile()
	if unit := unit(h, made, token); unit != installed {
		if err := c.installSandboxd(ctx, h.Name, program, unit); err != nil {
			return err
		}
	}
	if err := c.startSandboxd(ctx, h.Name); err != nil {
		return err
	}
	published, err := c.Run(ctx, "", "docker", "port", h.Name, fmt.Sprintf("%d/tcp", controlPort))
	if err != nil {
		return err
	}
	address, _, _ := strings.Cut(strings.TrimSpace(published), "\n")
	h.SandboxdControlURL = "http://" + address
	return nil
}

const madeFrom = "# made from "

// unit is the systemd unit of a host's sandboxd. It listens on the host's
// loopback, as the real one does. The digests of the program and the token are
// in it to show when another one takes its place.
func unit(h *cluster.Host, program, token string) string {
	return madeFrom + program + " " + token + fmt.Sprintf(`
[Service]
ExecStart=%s --listen 127.0.0.1:7777 --control-listen 0.0.0.0:%d --advertise-addr %s --token-file %s --state-dir /var/lib/sandboxd
Restart=on-failure

[Install]
WantedBy=multi-user.target
`, sandboxdProgram, controlPort, h.SandboxdAddr, sandboxdToken)
}

// installedProgram returns the digest of the program that a unit was made with.
func installedProgram(unit string) string {
	program, _, _ := strings.Cut(strings.TrimPrefix(unit, madeFrom), " ")
	return program
}

func digest(file string) (string, error) {
	content, err := os.ReadFile(file)
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}

// installSandboxd puts sandboxd's files into a node and ends the one that runs
// with older ones. The unit is last: it says that all is in place.
func (c *Cluster) installSandboxd(ctx context.Context, node, program, unit string) error {
	steps := [][]string{
		{"exec", node, "sh", "-c", "systemctl stop sandboxd 2>/dev/null; rm -f " + sandboxdUnit},
		{"cp", c.tokenFile(), node + ":" + sandboxdToken},
	}
	if program != "" {
		steps = append(steps, []string{"cp", program, node + ":" + sandboxdProgram})
	}
	for _, args := range steps {
		if _, err := c.Run(ctx, "", "docker", args...); err != nil {
			return err
		}
	}
	_, err := c.Run(ctx, unit, "docker", "exec", "-i", node, "sh", "-c",
		"cat >"+sandboxdUnit+".new && mv "+sandboxdUnit+".new "+sandboxdUnit+" && systemctl daemon-reload")
	return err
}

// startSandboxd starts the unit, and returns when sandboxd takes requests.
func (c *Cluster) startSandboxd(ctx context.Context, node string) error {
	script := fmt.Sprintf(`systemctl enable --quiet --now sandboxd
for _ in $(seq 100); do
  (: </dev/tcp/127.0.0.1/%d) 2>/dev/null && exit
  sleep 0.1
done
journalctl --unit=sandboxd --lines=20 --no-pager >&2
exit 1`, controlPort)
	if _, err := c.Run(ctx, "", "docker", "exec", node, "bash", "-c", script); err != nil {
		return fmt.Errorf("it takes no requests: %w", err)
	}
	return nil
}
