#!/usr/bin/env bash
# Times whole `stormwatch report` and `stormwatch exchanges` on access logs against
# goaccess, awk and wc -l, in turn, and prints the ratios with the memory of each.
# Usage: bench/logs.sh [RUNS]; sizes by SIZES (lines of each log), CLIENTS.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-3}
sizes=${SIZES:-1000000 5000000} clients=${CLIENTS:-50000}
export LC_ALL=C

for program in goaccess mawk gawk time; do
  if ! type -P "$program" >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$program" >/dev/null
  fi
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -trimpath -o "$dir/stormwatch" ./cmd/stormwatch
go build -o "$dir/gen" ./bench/gen

# What is timed. stormwatch exits 3, since there is a storm in the data.
report() { "$dir/stormwatch" report "$dir/access.log"; }
exchanges() { "$dir/stormwatch" exchanges "$dir/access.log"; }
go_access() {
  goaccess "$dir/access.log" --no-global-config --log-format='%h %^[%d:%t %^] "%r" %s %b "%R" "%u" %T %^' \
    --date-format=%d/%b/%Y --time-format=%T --no-progress -o "$dir/goaccess.json"
}
mawk_client() { mawk '{c[$1 " " $9]++} END {for (s in c) print s, c[s]}' "$dir/access.log"; }
mawk_status() { mawk '{c[$9]++} END {for (s in c) print s, c[s]}' "$dir/access.log"; }
gawk_status() { gawk '{c[$9]++} END {for (s in c) print s, c[s]}' "$dir/access.log"; }
wc_l() { wc -l "$dir/access.log"; }
export dir
export -f report exchanges go_access mawk_client mawk_status gawk_status wc_l
programs='report exchanges go_access mawk_client mawk_status gawk_status wc_l'

# once NAME: seconds, CPU seconds and peak KiB of one run, appended to NAME.times.
once() {
  command time -o "$dir/time" -f '%e %U %S %M' bash -c "$1" >"$dir/$1.out" 2>"$dir/$1.err" || [ $? = 3 ] || {
    echo "$1 failed:" >&2
    cat "$dir/$1.err" >&2
    exit 1
  }
  tail -1 "$dir/time" >>"$dir/$1.times" # the line before tells an exit code above 0
}

median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
seconds() { cut -d' ' -f1 "$dir/$1.times" | median; }
cpu() { awk '{print $2 + $3}' "$dir/$1.times" | median; }
peak() { cut -d' ' -f4 "$dir/$1.times" | sort -n | tail -1 | awk '{printf "%.0f", $1 / 1024}'; }

# row LABEL PROGRAM LINES: x is how many times as long it takes as report does.
row() {
  awk -v label="$1" -v s="$(seconds "$2")" -v c="$(cpu "$2")" -v n="$3" -v r="$(seconds report)" -v rc="$(cpu report)" -v mb="$(peak "$2")" \
    'BEGIN {s += (s == 0) / 200; c += (c == 0) / 200; printf "| %-40s | %7.2f | %7.2f | %9.3f | %7d | %8.2f | %9.2f |\n", label, s, c, n / s / 1e6, mb, s / r, c / rc}'
}

echo "$(nproc) cores (load $(cut -d' ' -f1 /proc/loadavg)), $(uname -sm), $(go version | cut -d' ' -f3); $(goaccess --version | head -1); $(mawk -W version 2>&1 | head -1 | cut -c1-20); $(gawk --version | head -1 | cut -c1-15)"
for lines in $sizes; do
  rm -f "$dir"/*.times
  "$dir/gen" log -n "$lines" -clients "$clients" -o "$dir/access.log"
  cat "$dir/access.log" >/dev/null # a warm file for everybody
  for _ in $(seq "$runs"); do      # in turn, so that a busy machine slows all alike
    for program in $programs; do once "$program"; done
  done
  echo
  echo "$lines lines of $clients clients, $(($(stat -c %s "$dir/access.log") >> 20)) MiB; medians of $runs runs in turn"
  echo
  echo '| whole process                            | seconds | CPU s   | million/s | peak MB | x report | x its CPU |'
  echo '|---|---:|---:|---:|---:|---:|---:|'
  row 'stormwatch report' report "$lines"
  row 'stormwatch exchanges' exchanges "$lines"
  row 'goaccess, JSON' go_access "$lines"
  row 'mawk counting statuses by client' mawk_client "$lines"
  row 'mawk counting statuses' mawk_status "$lines"
  row 'gawk counting statuses' gawk_status "$lines"
  row 'wc -l' wc_l "$lines"

  # The same requests must have been read.
  echo
  echo "requests and refusals by mawk: $(awk '{n += $2} $1 == 429 {r = $2} END {print n, r}' "$dir/mawk_status.out");" \
    "by stormwatch: $(sed -n 's/^  requests  *\([0-9,]*\) requests.* \([0-9,]*\) refused.*/\1 \2/p' "$dir/report.out" | tr -d ,);" \
    "requests by goaccess: $(sed -n 's/.*"valid_requests": *\([0-9]*\).*/\1/p' "$dir/goaccess.json" | head -1)"
done
