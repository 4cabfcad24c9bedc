"""Why points were lost, in words, from the recorded result; where a fault shows is added by `autograder.appeal`."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from autograder.names import display_name
from autograder.pages.render import Hint
from autograder.pages.words import UNDECIDED, lost, task_name, worded
from autograder.result import CheckResult, Result
from autograder.results import Kept, read_all
from autograder.spelling import clip, spell
from autograder.table import number

#: Characters of a message that are printed.
MAX_MESSAGE = 4000


class NotFoundError(Exception):
    """There is no such submission or check in the results; the message names near ones."""


def explanation(
    result: Result, check: str | None, hints: Mapping[str, Hint], fault: Callable[[CheckResult], Sequence[str]]
) -> list[str]:
    """The lines for one submission: each check that cost points or is not decided, or those that are named.

    ``check`` is an identifier, the end of one (``attention.rectangular``), or a function. ``fault`` says where the
    fault of a check shows.
    """
    lines = [
        f"{display_name(result.submission)}: {number(result.score)} of {number(result.max_score)} points"
        + (" (provisional)" if result.provisional else "")
    ]
    if result.message:
        lines += [_text(result.message)]
    chosen = _chosen(result, check)
    for one in chosen:
        lines += ["", *_lines(one, hints), *fault(one)]
    if not chosen:
        lines += ["", "No check cost points, and none is undecided."]
    made = f"Graded with kit {result.kit_version}, isolation {result.isolation}, device {result.device}."
    lines += ["", made]
    return lines


def find(out: Path, submission: str) -> Kept:
    """The result of a submission, by its name or by its file's."""
    kept, _ = read_all(out)
    wanted = spell(submission)
    for called in (kept.names, kept.stems, [f"{stem}.json" for stem in kept.stems]):
        if wanted in called:
            return kept[called.index(wanted)]
    near = difflib.get_close_matches(wanted, kept.stems, n=3, cutoff=0.4)
    hint = f" Near ones: {', '.join(near)}." if near else f" There are {len(kept)} results there."
    raise NotFoundError(f"There is no result of {display_name(submission)!r} in {out}.{hint}")


def _chosen(result: Result, check: str | None) -> list[CheckResult]:
    if check is None:
        return [c for c in result.checks if lost(c) or c.verdict in UNDECIDED]
    chosen = [c for c in result.checks if c.id == check or c.id.endswith(f".{check}") or c.function == check]
    if not chosen:
        near = difflib.get_close_matches(check, [c.id for c in result.checks], n=3, cutoff=0.4)
        hint = f" Near ones: {', '.join(near)}." if near else ""
        raise NotFoundError(f"There is no check {display_name(check)!r} in this result.{hint}")
    return chosen


def _lines(check: CheckResult, hints: Mapping[str, Hint]) -> list[str]:
    words = worded(check)
    points = f"{number(check.points)} of {number(check.max_points)} points"
    lines = [
        f"{words.sign} {words.word}: {check.id} ({points})",
        f"  {task_name(check.task)}, {check.function}: {check.title}",
    ]
    if check.message:
        lines += [f"  {line}" for line in _text(check.message).splitlines()]
    if check.verdict in UNDECIDED and check.message is None:
        lines += [f"  {UNDECIDED[check.verdict]}"]
    hint = hints.get(check.suspect) if check.suspect else None
    if hint is not None:
        lines += [f"  It most looks like {check.suspect}: {hint.hint}", f"  Read {hint.read}."]
    elif check.suspect:
        lines += [f"  It most looks like {display_name(check.suspect)}."]
    return lines


def _text(message: str) -> str:
    """A message in short lines, each made harmless for a terminal."""
    lines = [piece for line in clip(message, MAX_MESSAGE).splitlines() for piece in wrap(line, 100)]
    return "\n".join(display_name(line) for line in lines)
