"""LangGraph's tests of its own stores, run on ours.

They are in the sdist of langgraph-checkpoint, and are not ours to ship: get it with
`pip download --no-deps --no-binary :all: langgraph-checkpoint`, unpack it, and set
ORGMEM_LANGGRAPH_TESTS to its folder "tests".
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = os.environ.get("ORGMEM_LANGGRAPH_TESTS")
# Wants the scores of its character embeddings, to five digits.
NOT_OURS = ["test_embed_with_path"]

CONFTEST = """
import os, uuid
import langgraph.store.memory
from orgmem import Orgmem
from orgmem_langgraph import OrgmemStore

owner = Orgmem()

class Ours(OrgmemStore):
    def __init__(self, *, index=None):
        self.index_config = index  # one test looks at it
        subject = uuid.uuid4().hex
        owner.subjects.put(subject)
        super().__init__(subject=subject, fields=(index or {}).get("fields"))

langgraph.store.memory.InMemoryStore = Ours
"""


@pytest.mark.skipif(not FOLDER, reason="ORGMEM_LANGGRAPH_TESTS does not name the tests of langgraph-checkpoint")
def test_the_tests_of_langgraph(server: Any, key: str, tmp_path: Path) -> None:
    assert FOLDER
    for name in ("test_store.py", "embed_test_utils.py"):
        text = (Path(FOLDER) / name).read_text().replace("from tests.", "from ")
        (tmp_path / name).write_text(text)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto"]
    command += [
        "--rootdir",
        str(tmp_path),
        *(f"--deselect=test_store.py::{name}" for name in NOT_OURS),
        "test_store.py",
    ]
    environment = os.environ | {"ORGMEM_BASE_URL": server.url, "ORGMEM_API_KEY": key}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    shutil.rmtree(tmp_path, ignore_errors=True)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
