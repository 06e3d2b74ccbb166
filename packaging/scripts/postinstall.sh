#!/bin/sh
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# After the files of the deb or rpm are there. The service is not started by an
# installation: it needs a kubeconfig first. An upgrade restarts it if it runs;
# the claims table makes that harmless.

set -e

if command -v systemd-sysusers >/dev/null; then
  systemd-sysusers vk-sandbox.conf
fi
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart vk-sandbox.service
fi
