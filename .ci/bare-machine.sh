#!/usr/bin/env bash
# Runs one of our commands on a machine with nothing on it: a fresh minimal Debian 12 in a chroot, with
# a copy of this work tree. On request only; needs root and debootstrap.
#
#   .ci/bare-machine.sh [COMMAND...]      default: ./bench/run; the log is in build/bare.log
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/.ci/packages.sh"

bare=$root/build/bare
copy=/home/penstock
log=$root/build/bare.log

# The package mirror that this machine uses for Debian itself.
host_mirror() {
  find /etc/apt \( -name debian.sources -o -name sources.list \) -exec cat {} + |
    sed -nE 's/^(URIs:|deb)[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+).*/\3/p' | head -n 1
}

make_machine() {
  local mirror
  mirror=$(host_mirror)
  [[ -n $mirror ]] || die "cannot find this machine's Debian mirror in /etc/apt"
  debootstrap --variant=minbase bookworm "$bare" "$mirror" >"$log" 2>&1 ||
    die "debootstrap failed, see build/bare.log"
  cp /etc/resolv.conf /etc/hosts "$bare/etc/"
  # Same packages as on this machine, security updates and dated mirrors included.
  if [[ -e /etc/apt/sources.list.d/debian.sources ]]; then
    cp /etc/apt/sources.list.d/debian.sources "$bare/etc/apt/sources.list.d/"
    rm -f "$bare/etc/apt/sources.list"
  fi
  find /etc/apt/apt.conf.d -type f -exec grep -q '^Acquire::Check' {} \; \
    -exec cp -t "$bare/etc/apt/apt.conf.d" {} +
}

# Tracked and new files, without anything that was built.
copy_tree() {
  mkdir -p "$bare$copy"
  (cd "$root" && git ls-files -co --exclude-standard -z | tar -c --null -T -) | tar -x -C "$bare$copy"
}

# In a mount namespace of its own, so that /proc is gone from the folder when it is removed.
run_inside() {
  unshare --mount --fork bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "${@:1}"' "$bare" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    bash -c 'cd "$0" && exec "$@"' "$copy" "$@"
}

((EUID == 0)) || die "needs root"
install_missing "$root/build" debootstrap
(($#)) || set -- ./bench/run
rm -rf --one-file-system "$bare"
trap 'rm -rf --one-file-system "$bare"' EXIT
mkdir -p "$bare"
make_machine
copy_tree
say "a bare machine is ready after $SECONDS s; running: $*"
status=0
start=$SECONDS
run_inside "$@" 2>&1 | tee -a "$log" || status=${PIPESTATUS[0]}
say "exit $status after $((SECONDS - start)) s; log in build/bare.log"
exit "$status"
