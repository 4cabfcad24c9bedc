"""The one list of named mistakes: what each is called, what a student is told, and the code of the mistake.

    @suspect("softmax_over_queries", task="step1", hint="...", read="7.2, step 4")
    def attention(Q, K, V, mask=None):
        ...

The decorated function or class carries the contract's name and is written for its mistake alone. Its text
(``Suspect.source``) stands on its own: appended to a right submission, which binds ``np``, ``math`` and every
name of the contract, it becomes the submission with that mistake. So one list serves the hints in feedback
(``match.py``), the mutation test of the checks, and the statistics of a class.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

Code = TypeVar("Code", bound=Callable[..., object])

#: How a message ends that names a suspect; pages set what comes from here on apart.
LOOKS_LIKE = "What it most looks like: {hint} To read: {read}."

LAB = "attention_lab"

#: Modules that hold the suspects of the lab, in the order in which they are listed (and in which ties are broken).
MODULES = (
    "step1_softmax",
    "step1_softmax_numbers",
    "step1_scores",
    "step1_mask",
    "step1_mask_shapes",
    "step1_attention",
    "step1_numerics",
    "step1_self",
    "step2",
    "step2_tables",
    "step3",
    "step3_questions",
    "step4_gap",
    "step4_positions",
    "step4_report",
    "step4_written",
    "step5_warmup",
    "step5_timing",
    "step5_rows",
    "step5_slopes",
    "step6",
    "step6_largest",
    "step6_limits",
    "step7",
    "step7_prefix",
    "step8_cache",
    "step8_capacity",
    "step8_store",
    "step8_generate",
    "step8_output",
    "step8_timing",
    "step8_times",
)

#: The same for each notebook: a function of one name may be asked for in two of them, with mistakes of its own.
NOTEBOOKS: dict[str, tuple[str, ...]] = {
    LAB: MODULES,
    "exercises": (
        "exercise2",
        "exercise2_read_out",
        "exercise2_gap",
        "exercise3",
        "exercise4",
        "exercise5",
        "exercise6",
        "exercise6_scores",
        "exercise7",
        "exercise8",
        "exercise8_turns",
        "exercise8_spread",
        "exercise9",
        "exercise9_units",
        "exercise10",
        "exercise11",
    ),
    "block_receipts": (
        *("block_heads", "block_norms", "block_feed_forward", "block_whole", "block_parameters", "block_flops"),
        *("block_serving", "block_training", "block_sharing", "block_linear", "block_sqrt_dk", "block_model"),
        *("block_rope", "block_distances"),
    ),
    "linear_layers": ("linear_layers",),
}

#: Functions of the lab that another notebook asks for once more, and the task there: their mistakes are the same.
FROM_THE_LAB: dict[str, dict[str, str]] = {"exercises": {"kv_cache_bytes": "exercise3"}}


@dataclass(frozen=True)
class Suspect:
    """A named misconception.

    ``hint`` is one sentence for the student, without the solution; ``read`` is the place in the chapter.
    ``variants`` are further texts of the same mistake (another constant, another style), so that a student
    who wrote it differently is still told the same thing.
    """

    id: str
    task: str
    function: str
    hint: str
    read: str
    code: Callable[..., object]
    source: str
    variants: tuple[str, ...] = ()
    notebook: str = LAB

    @property
    def sources(self) -> tuple[str, ...]:
        """Every text of this mistake, the main one first."""
        return (self.source, *self.variants)


#: By notebook and identifier: the same mistake may be made, and is called the same, in two notebooks.
_REGISTERED: dict[tuple[str, str], Suspect] = {}
#: How often each mistake was written out once more.
_WRITTEN: dict[tuple[str, str], int] = {}


def suspect(
    identifier: str, *, task: str, hint: str, read: str, also: Sequence[tuple[str, str]] = ()
) -> Callable[[Code], Code]:
    """Register the decorated code as the mistake called ``identifier``.

    ``also``: pairs of a piece of its text and what another student may have there, such as another constant.
    """

    def register(code: Code) -> Code:
        key = _notebook(code), identifier
        if key in _REGISTERED:
            raise ValueError(f"there are two suspects called {identifier!r} in {key[0]}")
        text = _text(identifier, code, 0)
        others = tuple(_replaced(text, old, new) for old, new in also)
        _REGISTERED[key] = Suspect(identifier, task, code.__name__, hint, read, code, text, others)
        return code

    return register


def same_mistake(identifier: str) -> Callable[[Code], Code]:
    """Register the decorated code as another way to write the mistake called ``identifier``."""

    def register(code: Code) -> Code:
        key = _notebook(code), identifier
        known = _REGISTERED[key]
        if known.function != code.__name__:
            raise ValueError(f"{identifier!r} is a mistake of {known.function}, not of {code.__name__}")
        number = _WRITTEN[key] = _WRITTEN.get(key, 0) + 1
        text = _text(identifier, code, number)
        _REGISTERED[key] = replace(known, variants=(*known.variants, text))
        return code

    return register


def _notebook(code: Callable[..., object]) -> str:
    """The notebook whose mistakes stand in the module of this code."""
    module = code.__module__.rpartition(".")[2]
    return next((notebook for notebook, modules in NOTEBOOKS.items() if module in modules), LAB)


def _text(identifier: str, code: Callable[..., object], number: int) -> str:
    """The text of a mistake's function or class, from ``def`` or ``class`` on, without its decorators.

    Found by the identifier in its decorator: ``inspect.getsource`` takes classes of one name for each other.
    ``number`` counts the texts of one mistake.
    """
    nodes, lines = _decorated(code.__module__)
    node = nodes[identifier][number]
    return "\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n"


def _replaced(text: str, old: str, new: str) -> str:
    if old not in text:
        raise ValueError(f"{old!r} is not in the text that it is to be replaced in")
    return text.replace(old, new)


@cache
def _decorated(module: str) -> tuple[dict[str, list[ast.stmt]], list[str]]:
    """The statements of a module under each identifier that decorates them, and its lines."""
    text = inspect.getsource(sys.modules[module])
    nodes: dict[str, list[ast.stmt]] = {}
    for node in ast.parse(text).body:
        for decorator in getattr(node, "decorator_list", []):
            if isinstance(decorator, ast.Call) and isinstance(decorator.args[0], ast.Constant):
                nodes.setdefault(str(decorator.args[0].value), []).append(node)
    return nodes, text.splitlines()


@cache
def all_suspects(notebook: str = LAB) -> tuple[Suspect, ...]:
    """Every suspect of a notebook, in the order of the steps."""
    modules = [importlib.import_module(f"autograder.suspects.{name}").__name__ for name in NOTEBOOKS.get(notebook, ())]
    mine = [s for s in _REGISTERED.values() if s.code.__module__ in modules]
    again = FROM_THE_LAB.get(notebook, {})
    adopted = [replace(s, task=again[s.function]) for s in all_suspects() if s.function in again] if again else []
    ordered = sorted(mine, key=lambda s: modules.index(s.code.__module__))
    return tuple(replace(s, notebook=notebook) for s in [*ordered, *adopted])


@cache
def suspects_of(function: str, notebook: str = LAB) -> tuple[Suspect, ...]:
    """The suspects of one function of a notebook's contract."""
    return tuple(s for s in all_suspects(notebook) if s.function == function)
