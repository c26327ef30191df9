"""Installs what sdk/dist.sh has built into fresh environments, and runs the first block of each README against a fresh
service: python3 sdk/check_dist.py FOLDER. Prints a line for each package, and "N passed, N failed" last."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = pathlib.Path(sys.argv[1]).resolve()
BINARY = os.environ.get("ORGMEM_TEST_BINARY", str(ROOT / "bin" / "orgmem"))
LIMIT = 600  # seconds for one command, installing included
READY = 120  # seconds for the service to say where it is: far more than it takes, since the machine is shared
SLOW = 60  # seconds from an installation to the answer that a person should not wait longer than
# Nobody's own settings decide what is checked here.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith("ORGMEM_")}

# The README of each package and what its block must print.
PYTHON = {
    "orgmem": (ROOT / "sdk/python", "Okafor"),
    "orgmem_langchain": (ROOT / "sdk/adapters/python/orgmem-langchain", "Okafor"),
    "orgmem_langgraph": (ROOT / "sdk/adapters/python/orgmem-langgraph", "peanuts"),
    "orgmem_llamaindex": (ROOT / "sdk/adapters/python/orgmem-llamaindex", "Okafor"),
    "orgmem_openai_agents": (ROOT / "sdk/adapters/python/orgmem-openai-agents", "peanuts"),
}
NPM = {
    "orgmem": (ROOT / "sdk/typescript", "Okafor"),
    "orgmem-ai": (ROOT / "sdk/adapters/javascript/ai", "peanuts"),
    "orgmem-langchain": (ROOT / "sdk/adapters/javascript/langchain", "boiler"),
    "orgmem-langgraph": (ROOT / "sdk/adapters/javascript/langgraph", "peanuts"),
}


def block(folder: pathlib.Path, language: str) -> str:
    """The first block of a README in a language."""
    found = re.search(rf"^```{language}\n(.*?)^```$", (folder / "README.md").read_text(), re.M | re.S)
    if found is None:
        raise SystemExit(f"{folder}/README.md has no block of {language}")
    return found.group(1)


def run(*command: str, cwd: pathlib.Path, env: dict[str, str] | None = None) -> str:
    """Runs a command, and raises with what it said if it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}")
    return done.stdout


class Service:
    """The built service on free ports of this machine, with a memory of its own."""

    def __init__(self, work: pathlib.Path) -> None:
        folder, said = work / "data", work / "service.log"
        # A file takes whatever the service says for as long as it runs; a pipe that nobody reads stops it.
        with said.open("wb") as log:
            self.process = subprocess.Popen(
                [BINARY, "serve", "--quickstart", "--data", str(folder), "--listen", "127.0.0.1:0", "--operator-listen",
                 "127.0.0.1:0", "--log-format", "json"], stdout=log, stderr=log, env=CLEAN)
        try:
            base = self.address(said)
            key = (folder / "quickstart.key").read_text().strip()
        except BaseException:
            self.stop()
            raise
        self.env = CLEAN | {"ORGMEM_BASE_URL": base, "ORGMEM_API_KEY": key}

    def address(self, said: pathlib.Path) -> str:
        """Where it listens, once it says so."""
        deadline = time.monotonic() + READY
        while True:
            ended = self.process.poll() is not None
            # Only whole lines: the last may be half written.
            text = said.read_text(errors="replace")
            if found := re.search(r"http://127\.0\.0\.1:\d+", text[:text.rfind("\n") + 1]):
                return found.group(0)
            if ended:
                raise RuntimeError(f"the service has ended, before it said where it is:\n{text}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"the service did not say within {READY} s where it is:\n{text}")
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


passed, failed = 0, 0


def check(name: str, installed: float, want: str, output: str) -> None:
    """Counts a package, whose block has printed output; installed is when its installation began."""
    global passed, failed
    ok = want in output
    passed, failed = passed + ok, failed + (not ok)
    took = time.monotonic() - installed
    print(f"{'ok' if ok else 'FAILED'}  {name}: {took:.0f} s from the installation to the answer"
          + ("" if ok else f"; it printed {output!r}"), flush=True)
    if took > SLOW:  # no failure: how fast this machine is today is no property of the package
        print(f"slow  {name}: slower than {SLOW} s", flush=True)


def sdist(service: Service, work: pathlib.Path) -> None:
    """The client from its source, as a packager builds it."""
    begin = time.monotonic()
    home = work / "venv-sdist"
    venv.create(home, with_pip=True)
    run(str(home / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        str(next(DIST.glob("orgmem-[0-9]*.tar.gz"))), cwd=work)
    folder, want = PYTHON["orgmem"]
    script = work / "sdist_first.py"
    script.write_text(block(folder, "python"))
    check("orgmem (Python, sdist)", begin, want, run(str(home / "bin/python"), str(script), cwd=work, env=service.env))


def python(service: Service, work: pathlib.Path) -> None:
    for names in (["orgmem"], [n for n in PYTHON if n != "orgmem"]):
        begin = time.monotonic()
        home = work / f"venv-{len(names)}"
        venv.create(home, with_pip=True)
        wheels = {n: str(next(DIST.glob(f"{n}-*.whl"))) for n in PYTHON}
        run(str(home / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheels["orgmem"],
            *(wheels[n] for n in names if n != "orgmem"), cwd=work)
        for name in names:
            folder, want = PYTHON[name]
            script = work / f"{name}_first.py"
            script.write_text(block(folder, "python"))
            check(f"{name} (Python)", begin, want, run(str(home / "bin/python"), str(script), cwd=work, env=service.env))


def npm(service: Service, work: pathlib.Path) -> None:
    for names in (["orgmem"], [n for n in NPM if n != "orgmem"]):
        begin = time.monotonic()
        home = work / f"npm-{len(names)}"
        home.mkdir()
        (home / "package.json").write_text('{"private": true, "type": "module"}')
        tarballs = {n: str(next(DIST.glob(f"{n}-[0-9]*.tgz"))) for n in NPM}
        frameworks = [] if names == ["orgmem"] else frameworks_of(names)
        run("npm", "install", "--no-audit", "--no-fund", "--silent", tarballs["orgmem"],
            *(tarballs[n] for n in names if n != "orgmem"), *frameworks, cwd=home)
        for name in names:
            folder, want = NPM[name]
            script = home / f"{name}-first.mjs"
            script.write_text(block(folder, "js"))
            check(f"{name} (JavaScript)", begin, want, run("node", str(script), cwd=home, env=service.env))


def frameworks_of(names: list[str]) -> list[str]:
    """What the adapters plug into, in the versions that they are tested with."""
    import json

    lock = json.loads((ROOT / "sdk/adapters/javascript/package-lock.json").read_text())["packages"]
    wanted: set[str] = set()
    for name in names:
        package = json.loads((NPM[name][0] / "package.json").read_text())
        wanted |= set(package.get("peerDependencies", {})) - set(NPM)
    return [f"{w}@{lock[f'node_modules/{w}']['version']}" for w in sorted(wanted)]


def go(service: Service, work: pathlib.Path) -> None:
    begin = time.monotonic()
    with zipfile.ZipFile(next(DIST.glob("orgmem-go-*.zip"))) as archive:
        archive.extractall(work / "unpacked")
    home = work / "go"
    home.mkdir()
    (home / "main.go").write_text(block(ROOT / "sdk/go", "go"))
    run("go", "mod", "init", "example", cwd=home)
    module = next((work / "unpacked").iterdir())
    run("go", "mod", "edit", "-require=orgmem/sdk/go@v0.1.0", f"-replace=orgmem/sdk/go={module}", cwd=home)
    check("orgmem/sdk/go", begin, "boiler", run("go", "run", ".", cwd=home, env=service.env))


def main() -> int:
    global failed
    work = pathlib.Path(tempfile.mkdtemp(prefix="orgmem-dist-"))
    service = None
    try:
        for part in (python, sdist, npm, go):
            try:
                service = service or Service(work)
                part(service, work)
            except (RuntimeError, OSError, StopIteration, subprocess.SubprocessError) as error:
                failed += 1
                what = part.__name__ if service else "the service"
                print(f"FAILED  {what}: {error if isinstance(error, RuntimeError) else repr(error)}", flush=True)
                if service is None:
                    break
    finally:
        if service is not None:
            service.stop()
        shutil.rmtree(work, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
