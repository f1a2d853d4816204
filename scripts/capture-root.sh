#!/bin/sh
# Writes what deepgap reads of this machine's /proc and /sys as one text file, for a bug report or for tests/roots:
#
#   scripts/capture-root.sh > my-machine.tree
#   scripts/capture-root.sh --root FOLDER > other.tree     # of a copy of another machine's /proc and /sys
#
# Left out are host, user and serial names and other programs; identifiers of containers are replaced. Read the file
# before you send it: it is short and plain. src/hw/tree_file_system.h describes the format.
set -u

root=
case "${1:-}" in
  --root) root=${2:?'--root needs a folder'} ;;
  '') ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

folder=
put() { # PATH TEXT: one file, below a line for its folder where that changed
  parent=${1%/*}
  if [ "$parent" != "$folder" ]; then
    folder=$parent
    printf '[%s]\n' "${folder:-/}"
  fi
  case $2 in
    *"
"*) printf '%s:\n' "${1##*/}"; printf '%s\n' "$2" | sed 's/^/|/' ;;
    '') printf '%s =\n' "${1##*/}" ;;
    *) printf '%s = %s\n' "${1##*/}" "$2" ;;
  esac
}

take() { # PATH...: whole files, those that are there
  for path; do
    [ -f "$root$path" ] || continue
    text=$(cat "$root$path" 2>/dev/null) || continue
    put "$path" "$text"
  done
}

take_lines() { # PATH PATTERN: the lines that match
  [ -f "$root$1" ] || return 0
  text=$(grep -E "$2" "$root$1" 2>/dev/null) || return 0
  put "$1" "$text"
}

take_mark() { # PATH: that it is there
  [ -e "$root$1" ] && put "$1" ''
}

below() { # PATTERN: paths in the root that match, without the root
  IFS=  # a root's name may hold spaces
  for path in $root$1; do
    [ -e "$path" ] && printf '%s\n' "${path#"$root"}"
  done | sort -V
}

cgroup_folders() { # every group that holds this process, in every hierarchy
  mounts=$(grep -E ' - cgroup2? ' "$root/proc/self/mountinfo" 2>/dev/null | cut -d ' ' -f 4,5)
  [ -n "$mounts" ] || mounts=$(below '/sys/fs/cgroup' | sed 's|^|/ |')
  printf '%s\n' "$mounts" | while read -r mounted point; do
    printf '%s\n' "$point"
    cut -d : -f 3- "$root/proc/self/cgroup" 2>/dev/null | sort -u | while read -r group; do
      [ "$mounted" = / ] || group=${group#"$mounted"}
      while [ -n "$group" ] && [ "$group" != / ]; do
        printf '%s\n' "$point$group"
        group=${group%/*}
      done
    done
  done | sort -u
}

{
  printf 'deepgap-root 1\n'
  take_mark /.dockerenv
  [ -f "$root/proc/cpuinfo" ] && put /proc/cpuinfo "$(grep -v -E '^(Serial|vmx flags|bugs)' "$root/proc/cpuinfo")"
  take /proc/meminfo
  take_lines /proc/stat '^cpu'
  take /proc/1/cgroup /proc/self/cgroup
  take_lines /proc/self/mountinfo ' - cgroup2? '
  take_lines /proc/self/status '^Cpus_allowed_list'
  take /proc/sys/abi/sve_default_vector_length
  take_lines /etc/os-release '^PRETTY_NAME='
  take_mark /run/.containerenv
  take /run/systemd/container
  take_mark /run/secrets/kubernetes.io
  take /sys/hypervisor/type
  for name in sys_vendor product_name board_vendor bios_vendor; do take "/sys/class/dmi/id/$name"; done
  for name in cpu_core cpu_atom cpu_lowpower; do take "/sys/devices/$name/cpus"; done
  cpus=/sys/devices/system/cpu
  take $cpus/online $cpus/present
  take $cpus/smt/control $cpus/intel_pstate/no_turbo $cpus/cpufreq/boost
  for policy in $(below "$cpus/cpufreq/policy[0-9]*"); do
    for name in affected_cpus base_frequency cpuinfo_min_freq cpuinfo_max_freq scaling_cur_freq scaling_governor \
      scaling_driver; do
      take "$policy/$name"
    done
  done
  for cpu in $(below "$cpus/cpu[0-9]*"); do
    take "$cpu/topology/physical_package_id" "$cpu/topology/core_id"
    if [ -f "$root$cpu/topology/core_cpus_list" ]; then
      take "$cpu/topology/core_cpus_list"
    else
      take "$cpu/topology/thread_siblings_list"
    fi
    for index in $(below "$cpu/cache/index[0-9]*"); do
      for name in level type size shared_cpu_list; do take "$index/$name"; done
    done
  done
  for node in $(below '/sys/devices/system/node/node[0-9]*'); do
    take "$node/cpulist"
    take_lines "$node/meminfo" MemTotal
  done
  take /sys/kernel/mm/transparent_hugepage/enabled
  cgroup_folders | while read -r group; do
    take_mark "$group/cgroup.controllers"
    for name in cpu.max cpu.cfs_quota_us cpu.cfs_period_us cpu.stat cpuset.cpus cpuset.cpus.effective \
      cpuset.effective_cpus memory.max memory.high memory.current memory.limit_in_bytes memory.usage_in_bytes; do
      take "$group/$name"
    done
    take_lines "$group/memory.stat" '^(inactive_file|total_inactive_file|hierarchical_memory_limit) '
  done
} | sed -E 's/[0-9a-f]{32,}/CONTAINER/g; s/user-[0-9]+/user-1000/g; s/session-[0-9]+/session-1/g; s/[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}/POD/g'
