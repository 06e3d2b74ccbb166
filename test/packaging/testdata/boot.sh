#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Boots systemd on a throw-away copy of this machine's file system, with what lies
# in folder $1 laid over it, in namespaces of its own but for the network. None of
# the machine's units is started, and nothing that it writes stays. It ends with
# this process.
#   boot.sh <folder>

set -o errexit -o nounset -o pipefail

if [[ -z "${BOOT_INSIDE:-}" ]]; then
  # A control group of its own, in the hierarchy that systemd is to see.
  mount --make-rprivate /
  mount -t cgroup2 cgroup2 /mnt
  group="/mnt/vk-sandbox-boot-$$"
  mkdir "${group}"
  echo "$$" >"${group}/cgroup.procs"
  BOOT_INSIDE=yes exec unshare --cgroup --pid --mount --uts --ipc --fork --kill-child "$0" "$@"
fi

umount /mnt
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
root=/mnt/root
rm -rf "${root}"/{etc,usr/lib}/systemd/system/*.{wants,requires} "${root}"/var/lib/vk-sandbox
cp -r "$1/." "${root}/"
mount -t proc proc "${root}/proc"
mount -t sysfs sysfs "${root}/sys"
mount -t cgroup2 cgroup2 "${root}/sys/fs/cgroup"
for folder in dev run tmp; do
  mount -t tmpfs tmpfs "${root}/${folder}"
done
for device in null zero full random urandom tty; do
  touch "${root}/dev/${device}"
  mount --bind "/dev/${device}" "${root}/dev/${device}"
done
mkdir "${root}"/dev/{pts,shm,mqueue}
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "${root}/dev/pts"
ln -s pts/ptmx "${root}/dev/ptmx"
mount -t tmpfs tmpfs "${root}/dev/shm"
mkdir -p "${root}/old"
cd "${root}"
pivot_root . old
umount --lazy /old
exec env --ignore-environment container=boot PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=boot.target --log-target=console --show-status=no </dev/null
