#!/bin/sh
# Measures this machine for homenode (README.txt). Needs a POSIX shell and nothing else: no root, no compiler, no other program.
set -u

usage() {
  echo 'sh run.sh [--quick] [--minutes N] [--repeats N] [--no-calibration] [--name NAME] [--results FOLDER]

  --quick           fewer sizes, placements and repeats: some minutes instead of an hour
  --minutes N       begin no run after so many minutes (10 with --quick, else 90); started again, it goes on
  --repeats N       runs of each choice (3 with --quick, else 5)
  --no-calibration  describe the machine, measure no latencies and bandwidths of it
  --name NAME       what the machine is to be called (its own name)
  --results FOLDER  for what is measured (results-NAME, beside this script)'
}
stop() { echo "run.sh: $*" >&2; exit 2; }
whole() { case $2 in '' | 0* | *[!0-9]* | ???????*) stop "found '$1 $2'; allowed: a number from 1 on";; esac; }

case $0 in */*) cd "${0%/*}" || exit 1;; esac
quick='' minutes='' repeats='' calibrates=1 name='' results=''
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1;;
    --no-calibration) calibrates='';;
    --minutes | --repeats | --name | --results)
      [ $# -gt 1 ] || stop "no value behind $1"
      case $1 in
        --minutes) whole "$1" "$2"; minutes=$2;;
        --repeats) whole "$1" "$2"; repeats=$2;;
        --name) name=$2;;
        --results) results=$2;;
      esac
      shift;;
    -h | --help) usage; exit 0;;
    *) stop "found '$1'; allowed: --quick, --minutes, --repeats, --no-calibration, --name, --results, --help";;
  esac
  shift
done
bin/kit name >/dev/null 2>&1 || stop 'bin/kit does not run here; was the kit made for another kind of processor?'
[ -n "$name" ] || name=$(bin/kit name)
case $name in '' | .* | *[!A-Za-z0-9._-]*) stop "found '--name $name'; allowed: letters, digits, '.', '-' and '_'";; esac
unset OMP_WAIT_POLICY
. ./settings  # of the kit
: "${results:=results-$name}"  # nodes of a cluster may share this folder
if [ -n "$quick" ]; then : "${minutes:=10}" "${repeats:=3}"; calibration=$quick_calibration
else : "${minutes:=90}" "${repeats:=5}"; calibration=$full_calibration
fi
until=$(bin/kit until --minutes "$minutes") || exit 1

# What the machine allows, and what it is. What is there already is kept: interrupted, this script goes on where it stopped.
allowed=$(bin/kit probe --name "$name" --folder "$results") || exit 1
bindable='' pins=''
while read -r word rest; do
  case $word in
    bindable) bindable=" $rest ";;
    pin) pins=$rest;;
  esac
done <<END
$allowed
END
if [ ! -f "$results/machine.toml" ]; then
  task=detect
  [ -z "$calibrates" ] || task=measure
  # shellcheck disable=SC2086  # a list of words
  bin/homenode-calibrate $task --name "$name" -o "$results/machine.toml" --cores "$results/cores" $calibration --seconds $((60 * minutes)) \
    </dev/null || {
    echo 'run.sh: no calibration; the machine is described without' >&2
    bin/homenode-calibrate detect --name "$name" -o "$results/machine.toml" --cores "$results/cores" </dev/null || exit 1
  }
fi
compact='' scatter='' nodes='' first=1
while read -r word rest; do
  case $word in
    compact) compact=$rest;;
    scatter) scatter=$rest;;
    nodes) nodes=$rest;;
    first) first=$rest;;
  esac
done < "$results/cores"
[ -n "$compact" ] || stop "$results/cores does not name the cores; remove it and $results/machine.toml, and run again"

count() { all=0; for one in $1; do all=$((all + 1)); done; echo "$all"; }
cores=$(IFS=,; count "$compact")
several=''; [ "$(count "$nodes")" -gt 1 ] && several=1
teams=1
[ -n "$several" ] && [ "$first" -gt 1 ] && [ "$first" -lt "$cores" ] && teams="$teams $first"
[ "$cores" -gt 1 ] && teams="$teams $cores"
placements=first-touch
if [ -n "$several" ]; then
  binds='' node=0 all=1
  for one in $nodes; do
    case $bindable in
      *" $one "*) [ -n "$quick" ] && [ -n "$binds" ] || binds="$binds bind:$node";;
      *) all='';;
    esac
    node=$((node + 1))
  done
  [ -z "$all" ] || placements="$placements interleave"
  placements=$placements$binds
fi

# Calls $1 for each choice of each case, with what is chosen in variables.
each_choice() {
  while read -r case kernel when chunk words; do
    [ -n "$quick" ] && [ "$when" != quick ] && continue
    for threads in $teams; do
      pinnings=compact
      [ "$threads" -gt 1 ] && pinnings="$pinnings unpinned"
      [ -n "$several" ] && [ "$threads" -gt 1 ] && pinnings="$pinnings scatter"
      [ "$pins" = yes ] || pinnings=unpinned
      schedules=static
      [ "$chunk" -gt 0 ] && [ "$threads" -gt 1 ] && schedules="static dynamic:$chunk guided:$chunk"
      for pinning in $pinnings; do
        case $pinning in compact) cpus=$compact;; scatter) cpus=$scatter;; *) cpus='';; esac
        for placement in $placements; do
          for schedule in $schedules; do $1 || return 1; done
        done
      done
    done
  done < cases
}
planned=0 made=0
plan() { planned=$((planned + repeats + 1)); }
# 1: the time is over.
measure() {
  file="$results/r-$case-$threads-$pinning-$placement-$schedule-$repeat.json"
  if [ ! -f "$file" ]; then
    # shellcheck disable=SC2086  # lists of words
    bin/kit run --out "$file" --case "$case" --threads "$threads" --placement "$placement" --pinning "$pinning" --schedule "$schedule" \
      --repeat "$repeat" --nodes "$nodes" --cpus "$cpus" --timeout 300 --until "$until" $pages -- "bin/$kernel" $words </dev/null
    case $? in
      0) ;;
      3) return 1;;
      *) stop "kit run failed for $file";;
    esac
  fi
  made=$((made + 1))
}
each_choice plan
echo "$name: $cores cores, nodes $nodes; $planned runs, at most $minutes minutes" >&2
repeat=1 pages='' over=''
each_choice measure || over=1  # everything once before anything twice
if [ -z "$over" ]; then
  repeat=0 pages='--pages 1'
  each_choice measure || over=1
fi
repeat=2 pages=''
while [ -z "$over" ] && [ $repeat -le "$repeats" ]; do
  echo "$made of $planned runs are made" >&2
  each_choice measure || over=1
  repeat=$((repeat + 1))
done
bin/kit collect -o "homenode-kit-$name.jsonl" --planned "$planned" --folder "$results" --manifest manifest.json || exit 1
[ -z "$over" ] || echo "the time is over after $made of $planned runs; 'sh run.sh' with the same words goes on" >&2
echo "homenode-kit-$name.jsonl"
