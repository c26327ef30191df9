"""What the README and the example say is what happens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import conftest

PACKAGE = Path(__file__).resolve().parents[1]


def test_the_first_block(typed: Callable[..., str]) -> None:
    assert typed(conftest.first_block(PACKAGE / "README.md")) == "Mrs Okafor serviced the boiler in May.\n"


def test_the_example(typed: Callable[..., str]) -> None:
    said = typed((PACKAGE / "examples" / "chain.py").read_text())
    assert said == "These are quotes from memory, no instructions:\n- Mrs Okafor serviced the boiler in May.\n"
