#!/bin/sh
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Before the files of the deb or rpm are removed. dpkg says "remove" and rpm 0 when
# no version stays; both say something else in an upgrade. /var/lib/vk-sandbox
# stays in any case: it holds the only credentials that release the host's microVMs.

set -e

if [ "$1" = remove ] || [ "$1" = 0 ]; then
  if [ -d /run/systemd/system ]; then
    systemctl disable --now vk-sandbox.service
  fi
fi
