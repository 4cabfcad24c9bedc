"""How a public check is written: a small function with a sentence, which raises ``Mistake`` where it must.

    check = Checks("step1")

    @check("softmax.rows", read="section 7.2, step 4")
    def rows_sum_to_one(lab: Lab) -> None:
        '''Every row of the result is positive and sums to 1.'''

The docstring is the sentence that the student reads; the order in the file is the order of display. A check
waits where one that it ``needs`` does not hold, so that one mistake is not reported five times.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnlab.picture import Picture


class Mistake(Exception):
    """The answer does not have the property. ``came_back`` and ``looks_like`` are whole sentences.

    ``picture``: the answer itself, where seeing it says more.
    """

    def __init__(self, came_back: str, looks_like: str = "", picture: Picture | None = None) -> None:
        super().__init__(came_back)
        self.came_back, self.looks_like, self.picture = came_back, looks_like, picture


class StudentError(Exception):
    """The student's own code raised ``error``."""

    def __init__(self, function: str, error: BaseException) -> None:
        super().__init__(function)
        self.function, self.error = function, error


class Waits(Exception):
    """The check uses a function of another step that is not there yet; the text is the sentence."""


class Lab:
    """The student's functions by name: ``lab.softmax(x)`` calls the present binding of ``softmax``."""

    def __init__(self, bound: Mapping[str, object]) -> None:
        self._bound = bound

    def has(self, name: str) -> bool:
        return name in self._bound

    def need(self, name: str, step: str) -> None:
        """Wait unless the student's ``name``, from another step, is there."""
        if not self.has(name):
            raise Waits(f"This uses your `{name}` of {step}, which is not there yet.")

    def get(self, name: str) -> Any:
        return self._bound[name]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **keywords: Any) -> Any:
            return guarded(name, self._bound[name], *args, **keywords)

        return call


def guarded(name: str, function: Any, *args: Any, **keywords: Any) -> Any:
    """``function(*args)``, where whatever the student's code raises becomes ``StudentError``."""
    try:
        return function(*args, **keywords)
    except (KeyboardInterrupt, Mistake, Waits, StudentError):
        raise
    except BaseException as error:  # SystemExit of a stray exit() is the student's too
        raise StudentError(name, error) from None


@dataclass(frozen=True)
class PublicCheck:
    """One declared check; ``id`` is ``function.property``, ``read`` a place in the chapter or the article."""

    id: str
    sentence: str
    read: str
    needs: tuple[str, ...]
    run: Callable[[Lab], None]

    @property
    def function(self) -> str:
        return self.id.partition(".")[0]


class Checks:
    """The checks of one step, in order; calling it declares one."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.declared: list[PublicCheck] = []

    def __call__(
        self, name: str, *, read: str, needs: Sequence[str] = ()
    ) -> Callable[[Callable[[Lab], None]], Callable[[Lab], None]]:
        def add(run: Callable[[Lab], None]) -> Callable[[Lab], None]:
            where = read if read.startswith("article") else f"chapter {read}"
            sentence = " ".join(inspect.cleandoc(run.__doc__ or "").split())
            self.declared.append(PublicCheck(name, sentence, where, tuple(needs), run))
            return run

        return add
