#!/usr/bin/env bash
# Times stormwatch against the programs that read captures, and measures what
# connections that wait cost. Usage: bench/packets.sh [RUNS]; sizes by EXCHANGES,
# TSHARK (exchanges for tshark, which keeps all of them) and OPEN (connections with
# one open request). Prints a table of medians; the programs run in turn.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-3}
exchanges=${EXCHANGES:-1000000} few=${TSHARK:-100000} open=${OPEN:-200000}
export LC_ALL=C

for program in tshark tcpflow httpry ngrep tcpdump time; do
  if ! type -P "$program" >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$program" >/dev/null
  fi
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
go build -trimpath -o "$dir/stormwatch" ./cmd/stormwatch
go build -o "$dir/gen" ./bench/gen
go test -c -o "$dir/packet.test" ./capture/packet
"$dir/gen" capture -n "$exchanges" -o "$dir/traffic.pcap"
"$dir/gen" capture -n "$few" -o "$dir/few.pcap"
"$dir/gen" open -n "$open" -o "$dir/open.pcap"
cat "$dir"/*.pcap >/dev/null # warm files for everybody

# What is timed: to read the whole capture and to say what is in it. stormwatch
# report exits 3, since there is a storm in the data.
exchanges() { "$dir/stormwatch" exchanges "$dir/traffic.pcap"; }
report() { "$dir/stormwatch" report "$dir/traffic.pcap"; }
tshark_http() { tshark -n -r "$dir/few.pcap" -Y http -T fields -e http.request.uri -e http.response.code; }
tcpflow_console() { cd "$dir" && tcpflow -c -r traffic.pcap; } # it leaves a report where it runs
httpry_log() { rm -f "$dir/httpry.out"; httpry -q -r "$dir/traffic.pcap" -o "$dir/httpry.out" 'tcp port 80'; }
ngrep_http() { ngrep -q -I "$dir/traffic.pcap" '^GET |^HTTP/1' 'tcp port 80'; }
tcpdump_copy() { tcpdump -r "$dir/traffic.pcap" -w "$dir/copy.pcap"; }
waiting() { "$dir/stormwatch" exchanges "$dir/open.pcap"; }
waiting_reader() { STORMWATCH_QUALITY=1 "$dir/packet.test" -test.v -test.run TestOpenRequests; } # the same, without judging it
export dir
programs="exchanges report tshark_http tcpflow_console httpry_log ngrep_http tcpdump_copy waiting waiting_reader"
for program in $programs; do export -f "${program?}"; done

# once NAME: seconds, CPU seconds and peak KiB of one run, appended to NAME.times.
once() {
  command time -o "$dir/time" -f '%e %U %S %M' bash -c "$1" >"$dir/$1.txt" 2>"$dir/$1.err" || [ $? = 3 ] || {
    echo "$1 failed:" >&2
    tail -3 "$dir/$1.err" >&2
    exit 1
  }
  tail -1 "$dir/time" | awk '{print $1, $2 + $3, $4}' >>"$dir/$1.times" # the line before tells an exit code above 0
}

median() { sort -n | awk '{v[NR] = $1} END {print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }
seconds() { cut -d' ' -f1 "$dir/$1.times" | median; }
cpu() { cut -d' ' -f2 "$dir/$1.times" | median; }
peak() { cut -d' ' -f3 "$dir/$1.times" | sort -n | tail -1 | awk '{printf "%.0f", $1 / 1024}'; }

for _ in $(seq "$runs"); do # in turn, so that a busy machine slows all alike
  for program in $programs; do once "$program"; done
done

# row LABEL PROGRAM EXCHANGES: ratios are of the time an exchange takes to that of
# stormwatch exchanges, of stormwatch report, and of its CPU time, which other work
# on the machine disturbs least.
row() {
  awk -v label="$1" -v s="$(seconds "$2")" -v c="$(cpu "$2")" -v n="$3" -v mb="$(peak "$2")" -v all="$exchanges" \
    -v es="$(seconds exchanges)" -v rs="$(seconds report)" -v rc="$(cpu report)" \
    'BEGIN {printf "| %-44s | %7.2f | %7.2f | %9.3f | %7d | %9.2f | %9.2f | %9.2f |\n", label, s, c, n / s / 1e6, mb, (s / n) / (es / all), (s / n) / (rs / all), (c / n) / (rc / all)}'
}

echo "$(nproc) cores, $(uname -sm), $(go version | cut -d' ' -f3); $(tshark --version 2>/dev/null | head -1); $(tcpflow --version 2>&1 | head -1); httpry 0.1.8; $(ngrep -V 2>&1 | head -1 | cut -d, -f1); $(tcpdump --version 2>&1 | head -1)"
echo "$exchanges exchanges ($few for tshark), $(du -m "$dir/traffic.pcap" | cut -f1) MB; medians of $runs runs in turn, warm files"
echo
echo '| whole process                                | seconds | CPU s   | million/s | peak MB | x exch.   | x report  | x its CPU  |'
echo '|---|---:|---:|---:|---:|---:|---:|---:|'
row 'stormwatch exchanges' exchanges "$exchanges"
row 'stormwatch report' report "$exchanges"
row 'tshark -Y http -T fields' tshark_http "$few"
row 'tcpflow -c' tcpflow_console "$exchanges"
row 'httpry' httpry_log "$exchanges"
row 'ngrep ^GET|^HTTP/1' ngrep_http "$exchanges"
row 'tcpdump -r -w' tcpdump_copy "$exchanges"
echo
echo "$open connections with one open request each: stormwatch exchanges, peak $(peak waiting) MB; the reader alone with 200,000, peak $(peak waiting_reader) MB, in use $(sed -n 's/.*: \([0-9]* MB\), .* a connection.*/\1/p' "$dir/waiting_reader.txt")"

# The same must have been read.
echo
echo "read: stormwatch $(wc -l <"$dir/exchanges.txt") exchanges, httpry $(grep -c '>' "$dir/httpry.out") requests, tcpflow $(grep -c 'GET /' "$dir/tcpflow_console.txt"), ngrep $(grep -c ' GET /\|^GET /\|GET /' "$dir/ngrep_http.txt"); of $few tshark $(grep -c '^/' "$dir/tshark_http.txt")"
echo "waiting: $(wc -l <"$dir/waiting.txt") exchanges"
