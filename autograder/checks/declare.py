"""How a hidden check says what it is: step, function, weight and limits, as data on the test function.

    check = Task("attention_lab", "step1")

    @check("attention.rectangular", needs=["attention.one_token"])
    def test_attention_keeps_queries_and_keys_apart(lab, rng):
        '''Queries and keys may differ in number, and values in width.'''

The docstring is the sentence that the student reads; the order in the file is the order of display.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Declaration:
    """What the grader knows about a check before it runs it."""

    notebook: str
    task: str
    function: str
    claim: str
    needs: tuple[str, ...] = ()
    weight: float = 1.0
    seconds: float = 10.0
    measured: bool = False

    @property
    def id(self) -> str:
        return f"{self.notebook}.{self.task}.{self.function}.{self.claim}"


@dataclass(frozen=True)
class Task:
    """A step of a notebook; calling it declares a check of one of the step's functions.

    ``needs`` names checks (``function.claim``, of this task, or a full id) that must have passed: where
    one did not, this check is skipped, not failed. The points of a function (``course.toml``) are shared
    among its checks by ``weight``. ``seconds`` is the limit for one call into the submission.
    """

    notebook: str
    task: str

    def __call__(
        self,
        name: str,
        *,
        needs: Sequence[str] = (),
        weight: float = 1.0,
        seconds: float = 10.0,
        measured: bool = False,
    ) -> Callable[[Callable[..., None]], Callable[..., None]]:
        function, _, claim = name.partition(".")
        full = tuple(n if n.count(".") == 3 else f"{self.notebook}.{self.task}.{n}" for n in needs)
        declared = Declaration(self.notebook, self.task, function, claim, full, weight, seconds, measured)

        def mark(test: Callable[..., None]) -> Callable[..., None]:
            marked: Callable[..., None] = pytest.mark.declared(declared)(test)
            return marked

        return mark
