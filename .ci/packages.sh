# shellcheck shell=bash disable=SC2034
# The distribution packages that penstock needs, and how they get installed. Sourced by the scripts
# that a user calls (tests/run, bench/run) and by .ci/run. Everything here reports on stderr.

# Names in Debian 12 and in Ubuntu 24.04.
build_packages=(
  g++ cmake ninja-build
  libtbb-dev zlib1g-dev libjpeg-dev libtinyxml2-dev libhwy-dev
  libcli11-dev nlohmann-json3-dev libbenchmark-dev
)
test_packages=(libgtest-dev libgmock-dev patch python3 pkgconf binutils ccache openmpi-bin doxygen)
ci_packages=(clang clang-format libclang-rt-dev dpkg-dev valgrind)

say() { echo "${0##*/}: $*" >&2; }

die() {
  say "$*"
  exit 1
}

is_installed() {
  [[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]
}

# Runs apt-get as root without questions; what it prints goes to $1.
apt_get() {
  local log=$1 run=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -y)
  shift
  ((EUID == 0)) || run=(sudo "${run[@]}")
  "${run[@]}" "$@" >>"$log" 2>&1
}

# install_missing BUILD_DIR PACKAGE...
install_missing() {
  local log=$1/apt.log missing=() package
  shift
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  command -v apt-get >/dev/null || die "no apt-get here; install the equivalents of: ${missing[*]}"
  ((EUID == 0)) || command -v sudo >/dev/null ||
    die "neither root nor sudo; have somebody run: apt-get install ${missing[*]}"
  say "installing from the distribution: ${missing[*]}"
  mkdir -p "${log%/*}"
  : >"$log"
  apt_get "$log" update || true # an old list may still do; the next line decides
  apt_get "$log" install --no-install-recommends "${missing[@]}" ||
    die "cannot install packages: $(grep -m1 '^E:' "$log" || echo "see $log")"
}
