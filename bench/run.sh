#!/usr/bin/env bash
# Times whole `stormwatch report` against mawk on a log and tshark on a capture.
# Usage: bench/run.sh [RUNS]; sizes by LINES, CLIENTS and EXCHANGES. Prints a table
# of medians; every program's output goes to a file, none to a terminal.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-3}
lines=${LINES:-1000000} clients=${CLIENTS:-50000} exchanges=${EXCHANGES:-100000}
export LC_ALL=C

for program in mawk tshark time; do
  if ! type -P "$program" >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$program" >/dev/null
  fi
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -trimpath -o "$dir/stormwatch" ./cmd/stormwatch
go build -o "$dir/gen" ./bench/gen
"$dir/gen" log -n "$lines" -clients "$clients" -o "$dir/access.log"
"$dir/gen" capture -n "$exchanges" -clients "$clients" -o "$dir/traffic.pcap"
cat "$dir/access.log" "$dir/traffic.pcap" >/dev/null # warm files for everybody

# What is timed. stormwatch exits 3, since there is a storm in the data.
report_log() { "$dir/stormwatch" report "$dir/access.log"; }
count_mawk() { mawk '{c[$9]++} END{for (s in c) print s, c[s]}' "$dir/access.log"; }
count_mawk_client() { mawk '{c[$1 " " $9]++} END{for (s in c) print s, c[s]}' "$dir/access.log"; }
report_capture() { "$dir/stormwatch" report "$dir/traffic.pcap"; }
codes_tshark() { tshark -r "$dir/traffic.pcap" -Y http -T fields -e http.response.code; }
export dir
export -f report_log count_mawk count_mawk_client report_capture codes_tshark

# once NAME: seconds and peak KiB of one run, appended to NAME.times.
once() {
  command time -o "$dir/time" -f '%e %M' bash -c "$1" >"$dir/$1.out" 2>"$dir/$1.err" || [ $? = 3 ] || {
    echo "$1 failed:" >&2
    cat "$dir/$1.err" >&2
    exit 1
  }
  tail -1 "$dir/time" >>"$dir/$1.times" # the line before tells an exit code above 0
}

median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
seconds() { cut -d' ' -f1 "$dir/$1.times" | median; }
peak() { cut -d' ' -f2 "$dir/$1.times" | sort -n | tail -1 | awk '{printf "%.0f", $1 / 1024}'; }

for _ in $(seq "$runs"); do # in turn, so that a busy machine slows all alike
  for program in report_log count_mawk count_mawk_client report_capture codes_tshark; do once "$program"; done
done

# row LABEL PROGRAM UNITS PEER
row() {
  awk -v label="$1" -v s="$(seconds "$2")" -v n="$3" -v p="$(seconds "$4")" -v mb="$(peak "$2")" \
    'BEGIN {printf "| %-44s | %7.2f | %9.3f | %7d | %6.2f |\n", label, s, n / s / 1e6, mb, p / s}'
}

echo "$(nproc) cores, $(uname -sm), $(go version | cut -d' ' -f3); $(mawk -W version 2>&1 | head -1 | cut -c1-20); $(tshark --version 2>/dev/null | head -1)"
echo "$lines log lines and $exchanges exchanges in a capture, of $clients clients; medians of $runs runs in turn, warm files"
echo
echo '| whole process                                | seconds | million/s | peak MB | x peer |'
echo '|---|---:|---:|---:|---:|'
row 'stormwatch report access.log' report_log "$lines" count_mawk
row 'mawk counting statuses (the peer)' count_mawk "$lines" count_mawk
row 'mawk counting statuses by client' count_mawk_client "$lines" count_mawk
row 'stormwatch report traffic.pcap' report_capture "$exchanges" codes_tshark
row 'tshark -Y http, status codes (the peer)' codes_tshark "$exchanges" codes_tshark

# The same requests must have been read.
want=$(awk '{n += $2} $1 == 429 {r = $2} END {print n, r}' "$dir/count_mawk.out")
got=$(sed -n 's/^  requests  *\([0-9,]*\) requests.* \([0-9,]*\) refused.*/\1 \2/p' "$dir/report_log.out" | tr -d ,)
echo
echo "log: requests and refusals by mawk: $want; by stormwatch: $got"
want="$(grep -c '^[0-9]' "$dir/codes_tshark.out") $(grep -c '^429' "$dir/codes_tshark.out")"
got=$(sed -n 's/^  requests  *\([0-9,]*\) requests.* \([0-9,]*\) refused.*/\1 \2/p' "$dir/report_capture.out" | tr -d ,)
echo "capture: answers and refusals by tshark: $want; by stormwatch: $got"
