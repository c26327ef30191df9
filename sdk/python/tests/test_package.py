"""What is built is whole, and works where there is nothing else of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from conftest import Server
from test_readme import BLOCKS

PACKAGE = Path(__file__).parents[1]


def test_wheel_and_sdist(server: Server, tmp_path: Path) -> None:
    # Without isolation: a build that fetches its backend would need a network.
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(PACKAGE)],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    (sdist,) = tmp_path.glob("*.tar.gz")
    modules = {path.relative_to(PACKAGE / "src").as_posix() for path in (PACKAGE / "src/orgmem").rglob("*.py")}
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read("orgmem-0.1.0.dist-info/METADATA").decode()
    assert {name for name in names if name.startswith("orgmem/")} == modules | {"orgmem/py.typed"}
    assert "License-Expression: Apache-2.0" in metadata and "orgmem-0.1.0.dist-info/licenses/LICENSE" in names
    needs = {line.split(":")[1].strip() for line in metadata.splitlines() if line.startswith("Requires-Dist")}
    assert {need for need in needs if "extra ==" not in need} == {"httpx<1,>=0.27", "pydantic<3,>=2.5"}
    with tarfile.open(sdist) as source:
        assert {f"orgmem-0.1.0/src/{module}" for module in modules} <= set(source.getnames())

    for built in (wheel, sdist):
        place = tmp_path / built.suffix[1:]
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
        subprocess.run([*install, "--target", str(place), str(built)], check=True, capture_output=True)
        environment = {
            **os.environ,
            "PYTHONPATH": str(place),
            "ORGMEM_API_KEY": server.organization(),
            "ORGMEM_BASE_URL": server.url,
        }
        block = BLOCKS[0] + "import orgmem; print(orgmem.__file__)"
        done = subprocess.run(
            [sys.executable, "-c", block], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [
            "Mrs Okafor serviced the boiler in May.",
            str(place / "orgmem" / "__init__.py"),
        ]
