"""What the README says to type, typed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Server

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def typed(block: str, server: Server) -> str:
    environment = {**os.environ, "ORGMEM_API_KEY": server.organization(), "ORGMEM_BASE_URL": server.url}
    done = subprocess.run([sys.executable, "-c", block], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_first_block(server: Server) -> None:
    assert BLOCKS[0] == re.search(r"A test executes exactly this block\. -->\n```python\n(.*?)```", README, re.S)[1]  # type: ignore[index]
    assert typed(BLOCKS[0], server) == "Mrs Okafor serviced the boiler in May.\n"


def test_the_block_of_mem0(server: Server) -> None:
    block = next(b for b in BLOCKS if "orgmem.mem0" in b)
    assert typed(block, server) == "I am allergic to nuts.\n"


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_is_python(block: str) -> None:
    ast.parse("async def block():\n" + "\n".join("    " + line for line in block.splitlines()))


def test_every_name_is_there() -> None:
    """What the blocks import."""
    for block in BLOCKS:
        for node in ast.walk(ast.parse("async def block():\n" + "\n".join("    " + x for x in block.splitlines()))):
            if isinstance(node, ast.ImportFrom):
                exec(compile(ast.Module([node], []), "README.md", "exec"), {})  # noqa: S102


def test_the_doc_string_says_the_same() -> None:
    import orgmem

    assert BLOCKS[0].splitlines()[-2:] == [x.strip() for x in (orgmem.__doc__ or "").splitlines()[5:7]]
