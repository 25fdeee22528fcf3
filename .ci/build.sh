# shellcheck shell=bash
# How the scripts configure and build. Sourced after packages.sh; expects $root.

# As many compilers as there are cores, but one for each 1.5 GB of memory at most.
build_jobs() {
  local cores kilobytes fitting
  cores=$(nproc)
  kilobytes=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  fitting=$((${kilobytes:-0} / 1500000))
  ((fitting < cores)) && cores=$((fitting > 1 ? fitting : 1))
  echo "$cores"
}

# ninja and ccache are used where found. ccache keeps to build/ and works across clones.
use_build_tools() {
  if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi
  CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}
  export CMAKE_BUILD_PARALLEL_LEVEL
  export CCACHE_DIR=${CCACHE_DIR:-$root/build/ccache} CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
}

# configure PRESET [cmake flag]...
# A build folder that exists keeps its settings but for the flags given. In a new one, warnings are
# errors only if the caller says so: a stranger's newer compiler must not stop the build.
configure() {
  local preset=$1 flags=(--preset "$1" "-DPENSTOCK_WERROR=${PENSTOCK_WERROR:-OFF}" -DPENSTOCK_UNITY_BUILD=ON)
  shift
  if [[ -e $root/build/$preset/CMakeCache.txt ]]; then flags=(-B "$root/build/$preset"); fi
  cmake -S "$root" "${flags[@]}" "$@" || die "configuring $preset failed"
}

# build PRESET [target]...
build() {
  local preset=$1
  shift
  cmake --build "$root/build/$preset" ${1:+--target "$@"} || die "building $preset failed"
}
