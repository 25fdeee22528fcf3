# shellcheck shell=bash disable=SC2154
# What the install tests share. Expects $here, $log, and $consumer_flags: cmake flags of a consumer's project.

fail() {
  echo "install test: $*" >&2
  exit 1
}

# quietly COMMAND...: what it prints is shown only if it fails.
quietly() {
  "$@" >"$log" 2>&1 || {
    tail -n 60 "$log" >&2
    fail "failed: $*"
  }
}

expect_passed() {
  local printed
  printed=$(timeout 120 "$@") || fail "$1 ended with an error: $printed"
  [[ $printed == passed ]] || fail "$1 printed '$printed'"
}

# The shared libraries that a program loads at its start, by name.
needed_by() { ldd "$1" | awk '{ print $1 }'; }

# expect_needs_only COMPONENT PROGRAM: no library of another component.
expect_needs_only() {
  local foreign
  case $1 in
    core) foreign='libjpeg|libhwy|libtinyxml2|libpenstock_image' ;;
    image) foreign='libtbb|libtinyxml2|libpenstock_core|libpenstock_imagenet' ;;
    *) return 0 ;;
  esac
  ! needed_by "$2" | grep -E "^($foreign)" >&2 || fail "$2, which uses $1, loads these"
}

# component_with_find_package PREFIX COMPONENT FOLDER
component_with_find_package() {
  quietly cmake -S "$here/components" -B "$3" "${consumer_flags[@]}" -DCMAKE_PREFIX_PATH="$1" -DCOMPONENT="$2"
  quietly cmake --build "$3"
  expect_passed "$3/program"
  expect_needs_only "$2" "$3/program"
}

# component_with_pkg_config PREFIX COMPONENT PROGRAM
component_with_pkg_config() {
  local flags
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name penstock-base.pc)")
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags --libs "penstock-$2") || fail "pkg-config does not know penstock-$2"
  read -ra flags <<<"$flags -Wl,-rpath,$(dirname "$PKG_CONFIG_PATH")"
  quietly c++ -std=c++20 "$here/components/$2.cc" "${flags[@]}" -o "$3"
  expect_passed "$3"
  expect_needs_only "$2" "$3"
}
