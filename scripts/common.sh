# shellcheck shell=bash
# What the scripts share; sourced, never run. A failure is one sentence on standard error and a nonzero exit.

set -euo pipefail

scripts_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export scripts_folder
# Another clone of the same sources finds what this one compiled.
export CCACHE_BASEDIR="${scripts_folder%/scripts}" CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# run_logged LOG WHAT COMMAND...: quiet when it works; the log's last lines and its name when it does not.
run_logged() {
  local log=$1 what=$2
  shift 2
  printf '== %s: %s\n' "$what" "$*" >>"$log"
  if ! "$@" >>"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    fail "$what failed; the whole log is $log"
  fi
}

# A Python 3 that has pip. A Python of the user's own comes before the distribution's.
find_python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import importlib.util, sys; sys.exit(not importlib.util.find_spec("pip"))' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  fail "no Python 3 with pip was found: run 'scripts/install-packages.sh build' first"
}

cache_folder() { "$scripts_folder/cache-folder.sh"; }

# lock NAME: one build of NAME at a time; the lock goes with the process, so a killed one leaves none behind.
lock() {
  mkdir -p "$(cache_folder)" || fail "cannot make the cache folder $(cache_folder); set DEEPGAP_CACHE to one that can be written"
  exec 9>"$(cache_folder)/$1.lock"
  if ! flock -n 9; then
    say "waiting: another process is making $1"
    flock 9
  fi
}
