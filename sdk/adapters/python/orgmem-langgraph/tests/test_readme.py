"""What the README and the example say is what happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import conftest

PACKAGE = Path(__file__).resolve().parents[1]


def test_the_first_block(typed: Callable[..., str]) -> None:
    assert typed(conftest.first_block(PACKAGE / "README.md")) == "Ann is allergic to peanuts.\n"


def test_the_example(typed: Callable[..., str]) -> None:
    lines = typed((PACKAGE / "examples" / "agent.py").read_text()).splitlines()
    assert lines[-2:] == ["> What can I not eat?", "You know: I am allergic to peanuts."]
