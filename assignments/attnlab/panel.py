"""The panel in words: HTML for a notebook, plain text everywhere else. Colour only repeats what words say."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from attnlab.look import framed, heading, prose, reading, say
from attnlab.picture import Picture, as_html, as_text
from attnlab.record import HIDDEN_NOTE, QUESTIONS_NOTE, WORDS, Outcome, StepReport, Verdict
from attnlab.step import KINDS
from attnlab.steps import BY_ID

BAR = 20
#: Of a line in a terminal, by its first character, which says the same.
STYLES = {"✓": "green", "✗": "red", "!": "red", "○": "dim", "…": "dim", "■": "yellow", "?": "bold yellow"}


@dataclass(frozen=True, repr=False)
class Panel:
    """What ``check`` gives back; a notebook shows it, ``str()`` gives it as text."""

    reports: tuple[StepReport, ...]

    @property
    def passed(self) -> bool:
        """Whether every public check of every step in it holds."""
        return all(report.passed for report in self.reports)

    def __str__(self) -> str:
        return text(self.reports)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = "".join(map(_report_html, self.reports))
        said = "".join(f'<p class="note">{prose(note)}</p>' for note in notes(self.reports))
        return framed("Public checks", f"{body}{said}")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def shown(self) -> Panel:
        """This panel; printed first where nothing else will show it: in a script."""
        say(self)
        return self


def notes(reports: tuple[StepReport, ...]) -> list[str]:
    """Sentences under the checks: where help is, what a person reads, and that there are hidden checks."""
    written = [report.written for report in reports if report.written]
    if len(written) > 3:
        written = ["What you write in words is read by a person."]
    unfinished = next((report for report in reports if report.number and not report.passed), None)
    stuck = [f"Stuck? In a terminal, `attnlab hint {unfinished.step}` gives a hint."] if unfinished else []
    return [*stuck, *written, _checks_note(reports)]


def _checks_note(reports: tuple[StepReport, ...]) -> str:
    return HIDDEN_NOTE if any(report.number for report in reports) else QUESTIONS_NOTE


def headline(report: StepReport) -> str:
    """``✗ Step 1. Scaled dot-product attention: 3 of 12 public checks hold``."""
    if not report.number:
        return f"{symbol(report)} {report.title}: {report.summary()}" if len(report.outcomes) > 1 else report.title
    return f"{symbol(report)} {called(report)}. {report.title}: {report.summary()}"


def begin_with(report: StepReport) -> str:
    """Which function to look at first, where more than one does not hold; empty where that needs no saying."""
    open_ones = list(dict.fromkeys(o.function for o in report.outcomes if o.verdict != "passed"))
    if len(open_ones) < 2 or not report.number:
        return ""
    first = next(o for o in report.outcomes if o.verdict != "passed")
    why = "the others build on it" if first.verdict == "not_written" else "what comes after it may follow from that"
    return f"Begin with `{first.function}`: {why}."


@dataclass(frozen=True)
class Line:
    """One line of a function's list, with ``details``: what came back, what it looks like, where to read."""

    verdict: Verdict
    sentence: str
    details: tuple[str, ...] = ()
    said: str = ""
    picture: Picture | None = None

    @property
    def state(self) -> str:
        return self.said or " ".join(WORDS[self.verdict])


def by_function(report: StepReport) -> list[tuple[str, list[Line]]]:
    """The outcomes under the functions they are about. What is not there is said once, not once per check."""
    groups = []
    for function, group in groupby(report.outcomes, key=lambda outcome: outcome.function):
        lines: list[Line] = []
        more = 0
        for outcome in group:
            line = _line(outcome)
            if (outcome.verdict == "waits" and not outcome.message) or line in lines:
                more += 1
            else:
                lines.append(line)
        if more:
            many = f"{more} {'more ' if lines else ''}{'checks' if more > 1 else 'check'}"
            lines.append(Line("waits", f"{many}, until what is above holds."))
        groups.append((function, lines))
    return groups


def _line(outcome: Outcome) -> Line:
    if outcome.verdict == "passed":
        details = (outcome.message,) if outcome.message else ()
        return Line(outcome.verdict, outcome.sentence, details, outcome.state)
    if outcome.verdict in ("not_written", "waits"):  # the sentence of the check says nothing new here
        return Line(outcome.verdict, outcome.message, said=outcome.state)
    said = [outcome.message]
    if outcome.looks_like:
        said.append(f"What it most looks like: {outcome.looks_like}")
    if outcome.read:
        said.append(f"Read: {outcome.read}.")
    return Line(outcome.verdict, outcome.sentence, tuple(said), outcome.state, outcome.picture)


def text(reports: tuple[StepReport, ...], *, with_notes: bool = True) -> str:
    """The panel as plain text."""
    lines: list[str] = []
    for report in reports:
        lines.append(headline(report))
        if report.problem:
            lines.append(f"  {report.problem}")
        if begin_with(report):
            lines.append(f"  {begin_with(report)}")
        for function, items in by_function(report):
            lines.append(f"  {function}")
            for item in items:
                lines += line_text(item)
        lines.append("")
    if with_notes:
        lines += notes(reports)
    return "\n".join(lines).rstrip()


def line_text(item: Line) -> list[str]:
    """A line with its details as plain text; a picture stands right below what came back."""
    drawn = as_text(item.picture) if item.picture else []
    details = [f"        {detail}" for detail in item.details]
    return [f"    {item.state}: {item.sentence}", *details[:1], *(f"          {row}" for row in drawn), *details[1:]]


def progress_line(reports: tuple[StepReport, ...]) -> str:
    """How far the lab has come: a bar, and the same in numbers."""
    held, of = done(reports)
    full = BAR * held // of
    return f"[{'#' * full}{'.' * (BAR - full)}] {how_far(reports)}"


def how_far(reports: tuple[StepReport, ...]) -> str:
    """How many steps pass their public checks, in words."""
    held, of = done(reports)
    asked = [f"; {report.title.lower()}: {report.summary()}" for report in reports if not report.number]
    return f"{held} of {of} {kind_of(reports)}s pass their public checks{''.join(asked)}"


def done(reports: tuple[StepReport, ...]) -> tuple[int, int]:
    """How many steps pass, of how many that have checks."""
    checked = [report for report in reports if report.number and not report.by_person_only]
    return sum(report.passed for report in checked), max(1, len(checked))


def following(reports: tuple[StepReport, ...]) -> str:
    """Which step to look at now."""
    for report in sorted(reports, key=lambda report: not report.number):
        if not report.passed:
            name = f"{kind_of(reports)} {report.number}, {report.title}" if report.number else report.title.lower()
            return f'Next: {name}. In a notebook: `check("{report.step}")`'
    return "Every public check holds."


def called(report: StepReport) -> str:
    """``Step 3``, or what such a piece is called in its notebook."""
    return BY_ID[report.step].name


def kind_of(reports: tuple[StepReport, ...]) -> str:
    """``step``, ``exercise`` or ``part``."""
    return KINDS[BY_ID[reports[0].step].notebook].lower()


def symbol(report: StepReport) -> str:
    """The state of a step as a sign; words stand beside it."""
    verdicts = {outcome.verdict for outcome in report.outcomes}
    if report.by_person_only:
        return "✎"
    if report.passed:
        return WORDS["passed"][0]
    if report.untouched:
        return WORDS["not_written"][0]
    # A step that is begun and has nothing wrong in it is no failure.
    return WORDS["failed" if report.problem or verdicts & {"failed", "error"} else "waits"][0]


def _report_html(report: StepReport) -> str:
    rows = [heading(prose(headline(report)))]
    rows += [f"<p>{prose(said)}</p>" for said in (report.problem, begin_with(report)) if said]
    for function, items in by_function(report):
        holding = [item for item in items if item.verdict == "passed"]
        others = [item for item in items if item.verdict != "passed"]
        rows.append(heading(f"<code>{escape(function)}</code>", "name", 5))
        if len(holding) > 1:  # folded, so that what does not hold is on the first screen
            symbol, _ = WORDS["passed"]
            said = f'<b class="state passed">{symbol} {len(holding)} checks hold</b>'
            rows.append(f"<details><summary>{said}</summary>{_list(holding)}</details>")
            rows.append(_list(others))
        else:
            rows.append(_list(items))
    return "".join(rows)


def _list(items: list[Line]) -> str:
    rows = []
    for item in items:
        # What came back is the student's own text: only where to read is ours to make a link of.
        details = [f"<p>{(reading if at else prose)(said)}</p>" for at, said in enumerate(item.details)]
        if item.picture:  # right below what came back, of which it is the picture
            details.insert(1, as_html(item.picture))
        state = f'<b class="state">{escape(item.state)}</b>'
        rows.append(f'<li class="{item.verdict}">{state}: {prose(item.sentence)}{"".join(details)}</li>')
    return f"<ul>{''.join(rows)}</ul>" if rows else ""
