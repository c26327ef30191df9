"""Filters on values, with the operators of LangGraph's stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}


def matches(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Whether a value meets all conditions."""
    return all(_meets(value.get(key), wanted) for key, wanted in (conditions or {}).items())


def _meets(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_operator(value, name, operand) for name, operand in wanted.items())
        return isinstance(value, Mapping) and all(_meets(value.get(key), one) for key, one in wanted.items())
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(wanted)
            and all(_meets(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return bool(value == wanted)


def _operator(value: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(value == operand)
    if name == "$ne":
        return bool(value != operand)
    compare = _COMPARED.get(name)
    if compare is None:
        raise ValueError(f"Unsupported operator: {name}. Known are $eq, $ne, {', '.join(_COMPARED)}.")
    try:
        return compare(float(value), float(operand))
    except (TypeError, ValueError):
        # Nothing, or no number: that is neither above nor below. One such item must not fail the search of the others.
        return False
