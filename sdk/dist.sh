#!/usr/bin/env bash
# Builds the clients and the adapters as packages that can be installed, for make dist-sdk, which installs what npm
# does: sdk/dist.sh FOLDER. The same commit gives the same wheels, sdists and Go module byte for byte: what is in them
# has the time of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mkdir -p "$1" && cd "$1" && pwd)
rm -f "$out"/*.whl "$out"/*.tar.gz "$out"/*.tgz "$out"/*.zip
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
[ "$SOURCE_DATE_EPOCH" -ge 315532800 ] || SOURCE_DATE_EPOCH=315532800 # a zip knows no time before 1980
export SOURCE_DATE_EPOCH

tools=sdk/dist/.venv # ignored by git
if [ ! -x "$tools/bin/pyproject-build" ]; then
	python3 -m venv "$tools"
	"$tools/bin/python" -m pip install --quiet --disable-pip-version-check 'build>=1.2' 'hatchling>=1.26'
fi
for project in sdk/python/pyproject.toml sdk/adapters/python/*/pyproject.toml; do
	"$tools/bin/pyproject-build" --no-isolation --outdir "$out" "$(dirname "$project")" >/dev/null
done

# npm runs each package's prepack, which builds it.
npm pack ./sdk/typescript --pack-destination "$out" --silent >/dev/null
for package in sdk/adapters/javascript/*/package.json; do
	[ "$(dirname "$(dirname "$package")")" = sdk/adapters/javascript ] || continue
	npm pack "./$(dirname "$package")" --pack-destination "$out" --silent >/dev/null
done

python3 - sdk/go "$out" <<'PY'
"""The Go module as an archive: its folder, without its tests' servers, in one folder with its version. Of a working
tree it has what git knows, and so none of what lies about; of a tree without git it has everything."""
import os, pathlib, re, subprocess, sys, time, zipfile

source, out = map(pathlib.Path, sys.argv[1:])
try:
    known = subprocess.run(["git", "ls-files", "-z", "--", str(source)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    files = [pathlib.Path(name) for name in known.stdout.decode().split("\0") if name] if known.returncode == 0 else []
except OSError:  # git is not installed
    files = []
version = re.search(r'Version = "([^"]+)"', "".join(p.read_text() for p in source.glob("*.go"))).group(1)
when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
top = f"orgmem-go-{version}"
with zipfile.ZipFile(out / f"{top}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(files or source.rglob("*")):
        if not path.is_file() or path.name.endswith("_test.go") or {"testdata", "bench"} & set(path.parts):
            continue
        entry = zipfile.ZipInfo(f"{top}/{path.relative_to(source)}", when)
        entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
        archive.writestr(entry, path.read_bytes())
PY
ls -l "$out" | awk 'NR > 1 { printf "%8d  %s\n", $5, $9 }'
