"""The lab at a glance: ``progress()``, in words and in points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from attnlab import saved
from attnlab.checking import caller_namespace, run_step
from attnlab.files import Unreadable
from attnlab.look import framed, heading, prose, say
from attnlab.panel import called, done, following, how_far, kind_of, notes, progress_line, symbol
from attnlab.record import HIDDEN_NOTE, StepReport
from attnlab.saved import Saved, Worth
from attnlab.step import ASSIGNMENTS, assignment_of
from attnlab.steps import NOTEBOOKS, functions
from attnlab.words import clean, names

#: Functions that one sentence names.
LISTED = 6


@dataclass(frozen=True, repr=False)
class Overview:
    """What ``progress`` gives back: a report for every step of one notebook, and what is known of the others.

    ``worth``: the points of each step by its id, as the saved notebook says them; empty where it does not.
    """

    reports: tuple[StepReport, ...]
    worth: Mapping[str, Worth]
    others: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every public check of the notebook holds."""
        return all(report.passed for report in self.reports)

    def __str__(self) -> str:
        width = max(len(report.title) for report in self.reports)
        label = {report.step: called(report) if report.number else "" for report in self.reports}
        room, state = max(map(len, label.values())), max(len(report.summary()) for report in self.reports)
        lines = [progress_line(self.reports)]
        for report in self.reports:
            row = f"  {symbol(report)} {label[report.step]:<{room}}  {report.title:<{width}}  "
            lines.append(f"{row}{report.summary():<{state}}  {self._points(report)}".rstrip())
        return "\n".join([*lines, "", following(self.reports), *self.sentences(), *self.others, HIDDEN_NOTE])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        held, of = done(self.reports)
        columns = [kind_of(self.reports).capitalize(), "Public checks", *(["Points"] if self.worth else [])]
        rows = []
        for report in self.reports:
            cells = [f"{symbol(report)} {escape(report.summary())}", *([self._points(report)] if self.worth else [])]
            label = f"{called(report)}. {report.title}" if report.number else report.title
            data = "".join(f"<td>{cell}</td>" for cell in cells)
            rows.append(f'<tr><th scope="row">{escape(label)}</th>{data}</tr>')
        head = "".join(f'<th scope="col">{column}</th>' for column in columns)
        said = [f"<p>{prose(line)}</p>" for line in (following(self.reports), *self.sentences(), *self.others)]
        last = [f'<p class="note">{prose(note)}</p>' for note in notes(self.reports)]
        body = [
            heading(escape(how_far(self.reports))),
            f'<progress max="{of}" value="{held}" aria-hidden="true"></progress>',
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>",
        ]
        return framed("Progress", "".join([*body, *said, *last]))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def shown(self) -> Overview:
        """This; printed first where nothing else will show it: in a script."""
        say(self)
        return self

    def sentences(self) -> list[str]:
        """The points within reach, and what is left to write."""
        said = [self._reach()] if self.worth else []
        open_ones = [o for report in self.reports for o in report.outcomes if o.verdict != "passed"]
        left = {
            "Not written yet": dict.fromkeys(o.function for o in open_ones if o.verdict == "not_written"),
            "Does not hold yet": dict.fromkeys(o.function for o in open_ones if o.verdict in ("failed", "error")),
        }
        for what, which in left.items():
            if which:
                more = [f"{len(which) - LISTED} more"] if len(which) > LISTED else []
                said.append(f"{what}: {names([*(f'`{name}`' for name in list(which)[:LISTED]), *more])}.")
        return said

    def _reach(self) -> str:
        """What the steps are worth whose public checks hold: within reach, and not yet earned."""
        whole = [self.worth.get(report.step, Worth()) for report in self.reports]
        held = [self.worth.get(report.step, Worth()).checks for report in self.reports if report.passed]
        by_checks, by_person = sum(one.checks for one in whole), sum(one.person for one in whole)
        person = f", and a person gives the other {by_person:g}" if by_person else ""
        return (
            f"This notebook is worth {by_checks + by_person:g} points: hidden checks decide {by_checks:g}{person}. "
            f"What holds here is worth {sum(held):g} of these {by_checks:g}, if the hidden checks agree."
        )

    def _points(self, report: StepReport) -> str:
        worth = self.worth.get(report.step)
        if worth is None:
            return ""
        by_person = f", {worth.person:g} of them by a person" if worth.person and worth.checks else ""
        return f"{worth.checks + worth.person:g}{by_person}" if worth.checks else f"{worth.person:g}, by a person"


def progress(notebook: str | None = None) -> Overview | None:
    """Every step of a notebook on the caller's namespace: what holds, what it is worth, what is left, what is next.

    Gives back the panel that a notebook shows; in a script it is printed. None while the lab is only loaded.
    ``notebook`` is ``"attention_lab"``, ``"exercises"`` and so on, by default the one that calls; ValueError for one
    that there is not. Points, and what is said of the other notebooks, come from their files as saved.
    """
    if notebook is not None and notebook not in NOTEBOOKS:
        raise ValueError(f"there is no notebook {notebook!r}; they are {', '.join(NOTEBOOKS)}")
    bound = caller_namespace()
    if bound is None:
        return None
    here = notebook or saved.current_notebook(bound)
    reports = tuple(run_step(step.id, bound) for step in NOTEBOOKS[here])
    files = _files()
    worth = files[here].worth if here in files else {}
    together = ASSIGNMENTS[assignment_of(here)]
    others = tuple(_of_other(name, files.get(name)) for name in together if name != here) if files else ()
    return Overview(reports, worth, others).shown()


def _files() -> dict[str, Saved]:
    try:
        return saved.beside(Path())
    except (OSError, Unreadable):  # the folder is gone, or may not be read
        return {}


def _of_other(name: str, file: Saved | None) -> str:
    if file is None:
        return f"{name}: not in this folder."
    worth = sum((one.checks + one.person for one in file.worth.values()), 0.0)
    points = f", {worth:g} points" if worth else ""
    written = f"{len(file.written)} of {len(functions(name))} functions written"
    return f"{clean(file.path.name)}{points}: {written}, as it was saved; `progress()` there says more."
