#!/usr/bin/env bash
# Checks the console: types and accessibility of its source, functions, whether dist is what the source builds, and walks
# in Chromium against the built binary (E2E_LONG=1: all of them). Writes "N passed, N failed" to bin/console.figures.
set -euo pipefail
cd "$(dirname "$0")"
export ORGMEM_TEST_BINARY="${ORGMEM_TEST_BINARY:-$PWD/../bin/orgmem}"
passed=0 failed=0
figures=../bin/console.figures
rm -f "$figures"

# step NAME COMMAND...: counts as one test.
step() {
	local name=$1
	shift
	echo "== console: $name"
	if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $name"; fi
}

fresh() {
	local built
	built=$(mktemp -d)
	npx vite build --logLevel error --outDir "$built" --emptyOutDir || return 1
	diff -r "$built" dist || { echo "console/dist is not what the source builds: run make console"; rm -rf "$built"; return 1; }
	rm -rf "$built"
}

# The first load is what the page itself asks for: its script, what that imports, and the style sheet.
sizes() {
	node scripts/sizes.mjs
}

# counted COMMAND...: a suite whose last lines count its tests as "N passed" and "N failed".
counted() {
	local log status=0
	log=$(mktemp)
	"$@" 2>&1 | tee "$log" || status=$?
	local p f
	p=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -oE '[0-9]+ passed' | tail -1 | grep -oE '[0-9]+' || echo 0)
	f=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -oE '[0-9]+ failed' | tail -1 | grep -oE '[0-9]+' || echo 0)
	[ "$status" -eq 0 ] || [ "$f" -gt 0 ] || f=1
	passed=$((passed + p)) failed=$((failed + f))
	rm -f "$log"
}

step "types, unused code, accessibility of the source" npm run --silent check
step "dist is fresh" fresh
step "sizes" sizes
echo "== console: functions"
NO_COLOR=1 counted npx vitest run --reporter=dot
if [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; then
	echo "== console: walks"
	NO_COLOR=1 counted npx playwright test --config e2e/playwright.config.ts
else
	echo "no chromium (make browser installs it as root): the console's walks are skipped"
fi
echo "$passed passed, $failed failed" | tee "$figures"
[ "$failed" -eq 0 ]
