#!/usr/bin/env bash
# Three nodes of one cluster on this machine, for trying things out: `make cluster`
# runs all of them until Ctrl-C, `make cluster-node N=2` runs one again.
#
#   deploy/cluster.sh BINARY DIRECTORY        make or continue the cluster
#   deploy/cluster.sh BINARY DIRECTORY N      run node N, which was there before
#
# Node 1 listens at PORT (clients), PORT+1 (operator) and PORT+2 (other nodes),
# the next one ten above, and so on.
set -euo pipefail

bin=$1 dir=$2 only=${3:-}
port=${PORT:-8080}
nodes="1 2 3"

public() { echo $((port + 10 * ($1 - 1))); }

# serve runs one node in the foreground.
serve() {
	local n=$1 p
	p=$(public "$n")
	shift
	exec "$bin" serve --data "$dir/n$n" --node-name "n$n" --listen "127.0.0.1:$p" \
		--operator-listen "127.0.0.1:$((p + 1))" --cluster-listen "127.0.0.1:$((p + 2))" "$@"
}

operator() { echo --data "$dir/n$1" --operator "http://127.0.0.1:$(($(public "$1") + 1))"; }

ready() { curl -sf -o /dev/null -m 5 "http://127.0.0.1:$(($(public "$1") + 1))/readyz"; }

# await waits until a node serves, or has ended.
await() {
	until ready "$1"; do
		if ! kill -0 "$2" 2>/dev/null; then
			echo "node $1 has ended; the end of $dir/n$1.log:" >&2
			tail -n 20 "$dir/n$1.log" >&2
			exit 1
		fi
		sleep 0.2
	done
}

if [ -n "$only" ]; then
	[ -e "$dir/n$only/cluster.credentials" ] || { echo "there is no node $only in $dir: run make cluster first" >&2; exit 1; }
	echo "node $only runs; its log is here, Ctrl-C stops it"
	serve "$only"
fi

mkdir -p "$dir"
if [ ! -e "$dir/n1/cluster.credentials" ]; then
	"$bin" cluster init --data "$dir/n1" >/dev/null
fi

# start runs a node in the background.
declare -A process
start() {
	local n=$1
	shift
	(serve "$n" "$@") >"$dir/n$n.out" 2>"$dir/n$n.log" &
	process[$n]=$!
}
# Those that still run: the number of one that was killed may be a stranger's by now.
# shellcheck disable=SC2046 # a list of process ids
trap 'trap - EXIT; kill $(jobs -rp) 2>/dev/null || true; wait; echo stopped' EXIT
trap 'exit 0' INT TERM

# Those that were there before start together: no one of them is a majority.
for n in $nodes; do
	if [ -e "$dir/n$n/cluster.credentials" ]; then
		if [ "$n" = 1 ]; then start 1 --quickstart; else start "$n"; fi
	fi
done
await 1 "${process[1]}"
for n in $nodes; do
	if [ ! -e "$dir/n$n/cluster.credentials" ]; then
		# shellcheck disable=SC2046 # two options and their values
		ORGMEM_JOIN_TOKEN=$("$bin" cluster token $(operator 1) 2>/dev/null)
		export ORGMEM_JOIN_TOKEN
		start "$n"
		unset ORGMEM_JOIN_TOKEN
	fi
	await "$n" "${process[$n]}"
done

cat <<TEXT
Three nodes serve one memory; each answers for all of it.

  Node 1   http://127.0.0.1:$(public 1)   operator http://127.0.0.1:$(($(public 1) + 1))   log $dir/n1.log
  Node 2   http://127.0.0.1:$(public 2)   operator http://127.0.0.1:$(($(public 2) + 1))   log $dir/n2.log
  Node 3   http://127.0.0.1:$(public 3)   operator http://127.0.0.1:$(($(public 3) + 1))   log $dir/n3.log

In another terminal, in this folder:

  use      export ORGMEM_API_KEY=\$(cat $dir/n1/quickstart.key)
           curl -sH "X-Svc-API-Key: \$ORGMEM_API_KEY" --json '{"content":"The boiler was serviced in May."}' http://127.0.0.1:$(public 1)/v1/ingest
           $bin search --base http://127.0.0.1:$(public 3) who looked after the heating
  look     $bin cluster status $(operator 1)
  kill     kill -9 \$(cat $dir/n2/PID)            the others take over within some two seconds
  rejoin   make cluster-node N=2                  it catches up and takes its share again
  drain    $bin cluster drain n3 $(operator 1)
           kill \$(cat $dir/n3/PID)               nobody notices; then make cluster-node N=3

A new cluster has three replicas of everything after some ten seconds: see cluster status.
Ctrl-C stops the three. Their data stays in $dir.
TEXT

wait
