#!/usr/bin/env bash
# Runs the suites of the clients and of the adapters against the built binary, for make test-sdk, which builds it and
# installs what npm does; Python's suites install their environments: sdk/test.sh [SUITE...]. The output of each is in
# bin/sdk-SUITE.log, and shown where it fails. The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export ORGMEM_TEST_BINARY=${ORGMEM_TEST_BINARY:-$root/bin/orgmem}
mkdir -p bin

# environment FOLDER PACKAGE...: a virtual environment of Python in FOLDER/.venv that has the packages, made anew only
# where what they need has changed.
environment() {
	local folder=$1 wanted
	shift
	wanted=$(python3 --version; cat sdk/python/pyproject.toml "$folder"/*/pyproject.toml 2>/dev/null | sha256sum; echo "$@")
	[ "$(cat "$folder/.venv/installed" 2>/dev/null)" = "$wanted" ] && return
	rm -rf "$folder/.venv"
	python3 -m venv "$folder/.venv"
	"$folder/.venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
	printf '%s\n' "$wanted" >"$folder/.venv/installed"
}

go_client() {
	cd sdk/go
	test -z "$(gofmt -l .)"
	go vet ./...
	# -count=1: Go's cache does not know the binary and the OpenAPI document, which lie outside the module.
	local status=0 events="$root/bin/sdk-go.json"
	go test -count=1 -race -json ./... >"$events" || status=$?
	[ "$status" -eq 0 ] || cat "$events"
	echo "$(grep '"Action":"pass"' "$events" | grep -c '"Test":' || true) passed," \
		"$(grep '"Action":"fail"' "$events" | grep -c '"Test":' || true) failed"
	return "$status"
}

typescript() {
	npm test --prefix sdk/typescript
}

python() {
	environment sdk/python -e 'sdk/python[test]'
	cd sdk/python
	.venv/bin/python -m mypy
	.venv/bin/python -m pytest
}

adapters_javascript() {
	npm run --prefix sdk/typescript build
	npm test --prefix sdk/adapters/javascript
}

adapters_python() {
	local packages=()
	for p in sdk/adapters/python/*/pyproject.toml; do packages+=(-e "$(dirname "$p")[test]"); done
	environment sdk/adapters/python -e sdk/python "${packages[@]}"
	cd sdk/adapters/python
	.venv/bin/python -m pytest
}

packages() {
	sdk/dist.sh dist/sdk
	python3 sdk/check_dist.py dist/sdk
}

# count KIND LOG: how many tests a log says have passed or failed, by the closing lines of pytest, of node's runner, of
# Vitest and of ours.
count() {
	sed 's/\x1b\[[0-9;]*m//g' "$2" | awk -v kind="$1" -v short="${1%ed}" '
		$1 ~ /^(#|ℹ)$/ && $2 == short { n += $3 }
		/^ *Tests / || /^=*.* in [0-9.]+s/ || /^[0-9]+ passed, [0-9]+ failed$/ {
			for (i = 2; i <= NF; i++) if ($i ~ "^" kind ",?$") n += $(i - 1)
		}
		END { print n + 0 }'
}

# A suite is a process of its own: bash would go on after an error in it otherwise, since what it returns is asked for.
if [ "${1:-}" = --run ]; then
	"$2"
	exit
fi

suites=("$@")
[ $# -gt 0 ] || suites=(go_client typescript python adapters_javascript adapters_python packages)
passed=0 failed=0
for suite in "${suites[@]}"; do
	log=bin/sdk-$suite.log begin=$SECONDS status=0
	case $suite in
		typescript | adapters_javascript) need=npm ;;
		python | adapters_python | packages) need=python3 ;;
		*) need=go ;;
	esac
	command -v "$need" >/dev/null || { echo "sdk: $suite: $need is not on this machine"; failed=$((failed + 1)); continue; }
	sdk/test.sh --run "$suite" >"$log" 2>&1 || status=$?
	p=$(count passed "$log") f=$(count failed "$log")
	if [ "$status" -ne 0 ]; then
		[ "$f" -gt 0 ] || f=1
		tail -n 200 "$log"
	elif [ "$p" -eq 0 ]; then
		echo "$suite ran no test"
		f=1
	fi
	echo "sdk: $suite: $p passed, $f failed, $((SECONDS - begin)) s"
	passed=$((passed + p)) failed=$((failed + f))
done
echo "$passed passed, $failed failed" | tee bin/sdk.figures
[ "$failed" -eq 0 ]
