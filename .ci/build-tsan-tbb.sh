#!/usr/bin/env bash
# Builds the distribution's oneTBB with ThreadSanitizer into build/tsan-tbb, for the preset `tsan`.
#
# With the stock library TSan cannot see TBB's synchronisation, and with TBB suppressed it is blind: no
# report even with a race planted in every body. The result is kept until the distribution's version
# changes. Needs dpkg-dev (.ci/packages.sh); touches nothing outside build/.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/.ci/packages.sh"
source "$root/.ci/build.sh"

prefix=$root/build/tsan-tbb
work=$root/build/tsan-tbb-work
apt_config=$work/apt

# The machine's own package sources, as sources of source packages, in a private folder.
write_apt_sources() {
  local file
  mkdir -p "$apt_config/parts" "$apt_config/lists/partial"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -e $file ]] && sed -n 's/^deb /deb-src /p' "$file" >"$apt_config/parts/${file##*/}.list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -e $file ]] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt_config/parts/${file##*/}"
  done
  return 0
}

apt_source() {
  apt-get -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt_config/parts" \
    -o Dir::State::lists="$apt_config/lists" -o APT::Sandbox::User=root "$@" >>"$work/apt.log" 2>&1 ||
    die "cannot fetch oneTBB's source package: $(grep -m1 '^E:' "$work/apt.log")"
}

fetch() {
  write_apt_sources
  apt_source update
  cd "$work"
  apt_source source --download-only "onetbb=$version"
  dpkg-source --no-check -x onetbb_*.dsc source >>"$work/apt.log" 2>&1 || die "cannot unpack onetbb"
}

# Joined by && because `compile || die` switches set -e off in here.
compile() {
  cmake -S "$work/source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O2 -g1 -DNDEBUG" -DTBB_SANITIZE=thread -DTBB_TEST=OFF \
    -DTBB_STRICT=OFF -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib >"$work/build.log" 2>&1 &&
    cmake --build "$work/build" >>"$work/build.log" 2>&1 &&
    cmake --install "$work/build" >>"$work/build.log"
}

version=$(dpkg-query -W -f '${source:Version}' libtbb-dev 2>/dev/null) || die "libtbb-dev is missing"
stamp=$prefix/version
if [[ -e $stamp && $(<"$stamp") == "$version" ]]; then
  say "build/tsan-tbb holds oneTBB $version already"
  exit 0
fi
say "building oneTBB $version with ThreadSanitizer"
rm -rf "$work" "$prefix"
mkdir -p "$work"
use_build_tools
fetch
compile || die "building oneTBB failed, see build/tsan-tbb-work/build.log"
echo "$version" >"$stamp"
rm -rf "$work"
