#!/usr/bin/env bash
# Starts each program once: --help fits a screen, --version says something, wrong usage exits with 2,
# and a tiny run works.
#
#   .ci/smoke.sh BIN_DIR
set -euo pipefail
bin=$(cd "$1" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
temporary=$(mktemp -d "$root/build/smoke.XXXXXX")
data=$temporary/data
trap 'rm -rf "$temporary"' EXIT
passed=0
failures=0

# check NAME COMMAND...
check() {
  local name=$1
  shift
  if "$@" >"$temporary/out" 2>&1; then
    passed=$((passed + 1))
  else
    failures=$((failures + 1))
    echo "smoke: $name failed:"
    tail -n 20 "$temporary/out"
  fi
}

help_fits_a_screen() { "$1" --help >"$temporary/help" && (($(wc -l <"$temporary/help") <= 60)); }
wrong_usage_is_2() {
  local status=0
  "$1" --no-such-flag || status=$?
  ((status == 2))
}

check_conventions() {
  local name=${1##*/}
  check "$name --help" help_fits_a_screen "$1"
  check "$name --version" "$1" --version
  check "$name --no-such-flag" wrong_usage_is_2 "$1"
}

smoke_imagenet() {
  check generate "$bin/penstock-imagenet" --data "$data" --generate 24
  for workload in boxes train eval; do
    check "imagenet $workload" "$bin/penstock-imagenet" --data "$data" --workload "$workload" \
      --batch 8 --epochs 1 --reps 1 --json --quiet
    check "straightforward $workload" "$bin/penstock-imagenet" --data "$data" --workload "$workload" \
      --batch 8 --reps 1 --straightforward
  done
  check ladder "$root/bench/ladder" --program "$bin/penstock-imagenet" --data "$data" --rounds 1 --epochs 1 \
    --dtype f16,u8 $( (($(nproc) < 2)) || echo --cpu-scaling)
}

smoke_golden() {
  local cases=$root/../shared/golden/cardinality.json
  [[ ! -e $cases ]] || check golden "$bin/penstock-golden" "$cases"
}

for program in "$bin"/penstock-*; do
  [[ $program == */penstock-bench ]] || check_conventions "$program" # its flags are Google Benchmark's
done
smoke_imagenet
smoke_golden
check opponent "$bin/penstock-opponent" --data "$data" --batch 8 --epochs 1 --reps 1 --json
check engine "$bin/penstock-engine" --case whole --rounds 1 --json
check "scorecard in real time" "$bin/penstock-scorecard" --mode real --scenario S08 --seconds 0.3 --rounds 1 --json
check bench "$bin/penstock-bench" --benchmark_min_time=0.001
echo "$passed passed, $failures failed"
((failures == 0))
