"""The panel in words: HTML for a notebook, plain text everywhere else. Colour only repeats what words say."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from attnlab.record import HIDDEN_NOTE, QUESTIONS_NOTE, WORDS, Outcome, StepReport, Verdict
from attnlab.step import KINDS
from attnlab.steps import BY_ID

BAR = 20

#: JupyterLab's own colours where it sets them, and otherwise a light and a dark set of our own. JupyterLab also
#: indents lists and right-aligns tables in outputs, with selectors that only a longer one overrules.
STYLE = """
.attnlab{--al-ink:var(--jp-ui-font-color0,#1b1f24);--al-soft:var(--jp-ui-font-color1,#4b5563);
--al-paper:var(--jp-layout-color0,#ffffff);--al-line:var(--jp-border-color1,#9ca3af);
--al-good:#166534;--al-bad:#9f1239;--al-wait:#4b5563;
color:var(--al-ink);background:var(--al-paper);border:1px solid var(--al-line);border-radius:6px;
padding:.6em .9em;margin:.3em 0;max-width:56em;font-family:var(--jp-ui-font-family,system-ui,sans-serif);
font-size:var(--jp-ui-font-size1,14px);line-height:1.5;overflow-wrap:anywhere}
section.attnlab p{margin:.1em 0}
section.attnlab p.title{font-size:1.1em;font-weight:600;margin:.1em 0 .2em}
section.attnlab p.name{margin:.8em 0 .15em}
section.attnlab p.name code{font-weight:600}
section.attnlab p.note{color:var(--al-soft);margin-top:.6em}
section.attnlab.attnlab ul{margin:0;padding:0;list-style:none}
section.attnlab.attnlab li{margin:.25em 0;padding-left:.6em;border-left:3px solid var(--al-edge,var(--al-line))}
section.attnlab details ul{margin-left:.4em}
section.attnlab summary{cursor:pointer}
section.attnlab summary:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.attnlab .passed{--al-edge:var(--al-good)}
.attnlab .failed,.attnlab .error{--al-edge:var(--al-bad)}
.attnlab b.state{color:var(--al-edge,var(--al-wait))}
section.attnlab table + p{margin-top:.6em}
section.attnlab progress{display:block;width:16em;max-width:100%;margin:.2em 0 .4em}
section.attnlab.attnlab table{border-collapse:collapse;color:var(--al-ink);font-size:inherit;margin:0;border:0}
section.attnlab.attnlab tbody tr,section.attnlab.attnlab thead tr{background:none;border:0}
section.attnlab.attnlab th,section.attnlab.attnlab td{text-align:left;vertical-align:top;
padding:.2em 1.2em .2em 0;font-weight:normal;max-width:none;white-space:normal;border:0}
section.attnlab.attnlab thead th{font-weight:600;border-bottom:1px solid var(--al-line)}
@media (prefers-color-scheme:dark){.attnlab{--al-ink:var(--jp-ui-font-color0,#e5e7eb);
--al-soft:var(--jp-ui-font-color1,#b6bcc6);--al-paper:var(--jp-layout-color0,#14171c)}}
@media (prefers-color-scheme:dark){body:not([data-jp-theme-light="true"]) .attnlab{--al-good:#86efac;
--al-bad:#fda4af;--al-wait:#cbd5e1}}
body[data-jp-theme-light="false"] .attnlab{--al-good:#86efac;--al-bad:#fda4af;--al-wait:#cbd5e1}
"""


@dataclass(frozen=True, repr=False)
class Panel:
    """What ``check`` and ``progress`` give back; a notebook shows it, ``str()`` gives it as text."""

    reports: tuple[StepReport, ...]
    overview: bool = False

    @property
    def passed(self) -> bool:
        """Whether every public check of every step in it holds."""
        return all(report.passed for report in self.reports)

    def __str__(self) -> str:
        return overview_text(self.reports) if self.overview else text(self.reports)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        body = _overview_html(self.reports) if self.overview else "".join(map(_report_html, self.reports))
        said = "".join(f'<p class="note">{_code(note)}</p>' for note in notes(self.reports))
        section = f'<section class="attnlab" aria-label="Public checks">{body}{said}</section>'
        return f"<style>{STYLE}</style>{section}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": str(self)}

    def shown(self) -> Panel:
        """This panel; printed first where nothing else will show it: in a script."""
        shell = sys.modules.get("IPython")
        in_notebook = shell is not None and shell.get_ipython() is not None
        if not in_notebook and not hasattr(sys, "ps1"):
            print(self)
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
        return f"{_symbol(report)} {report.title}: {report.summary()}" if len(report.outcomes) > 1 else report.title
    return f"{_symbol(report)} {_called(report)}. {report.title}: {report.summary()}"


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
    return Line(outcome.verdict, outcome.sentence, tuple(said), outcome.state)


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
                lines.append(f"    {item.state}: {item.sentence}")
                lines += [f"        {detail}" for detail in item.details]
        lines.append("")
    if with_notes:
        lines += notes(reports)
    return "\n".join(lines).rstrip()


def overview_text(reports: tuple[StepReport, ...]) -> str:
    """The table of ``progress()`` as plain text."""
    width = max(len(report.title) for report in reports)
    names = {report.step: _called(report) if report.number else "" for report in reports}
    lines, room = [progress_line(reports)], max(map(len, names.values()))
    lines += [
        f"  {_symbol(report)} {names[report.step]:<{room}}  {report.title:<{width}}  {report.summary()}"
        for report in reports
    ]
    return "\n".join([*lines, "", *([following(reports)] if following(reports) else []), HIDDEN_NOTE])


def progress_line(reports: tuple[StepReport, ...]) -> str:
    """How far the lab has come: a bar, and the same in numbers."""
    done, of = _done(reports)
    full = BAR * done // of
    return f"[{'#' * full}{'.' * (BAR - full)}] {_how_far(reports)}"


def _how_far(reports: tuple[StepReport, ...]) -> str:
    done, of = _done(reports)
    asked = [f"; {report.title.lower()}: {report.summary()}" for report in reports if not report.number]
    return f"{done} of {of} {_kind(reports)}s pass their public checks{''.join(asked)}"


def _done(reports: tuple[StepReport, ...]) -> tuple[int, int]:
    """How many steps pass, of how many that have checks."""
    checked = [report for report in reports if report.number and not report.by_person_only]
    return sum(report.passed for report in checked), max(1, len(checked))


def following(reports: tuple[StepReport, ...]) -> str:
    """Which step to look at now."""
    for report in sorted(reports, key=lambda report: not report.number):
        if not report.passed:
            name = f"{_kind(reports)} {report.number}, {report.title}" if report.number else report.title.lower()
            return f'Next: {name}. In a notebook: `check("{report.step}")`'
    return "Every public check holds."


def _called(report: StepReport) -> str:
    """``Step 3``, or what such a piece is called in its notebook."""
    return BY_ID[report.step].name


def _kind(reports: tuple[StepReport, ...]) -> str:
    """``step``, ``exercise`` or ``part``."""
    return KINDS[BY_ID[reports[0].step].notebook].lower()


def _symbol(report: StepReport) -> str:
    verdicts = {outcome.verdict for outcome in report.outcomes}
    if report.by_person_only:
        return "✎"
    if report.passed:
        return WORDS["passed"][0]
    if report.untouched:
        return WORDS["not_written"][0]
    # A step that is begun and has nothing wrong in it is no failure.
    return WORDS["failed" if report.problem or verdicts & {"failed", "error"} else "waits"][0]


def _code(sentence: str) -> str:
    """Escaped, with `names` between backticks as code."""
    parts = escape(sentence).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 and at < len(parts) - 1 else part for at, part in enumerate(parts))


def _title(text: str, kind: str = "title", level: int = 4) -> str:
    """A heading for screen readers; as an ``<h4>`` it would stand in JupyterLab's table of contents a second time."""
    return f'<p class="{kind}" role="heading" aria-level="{level}">{text}</p>'


def _report_html(report: StepReport) -> str:
    rows = [_title(_code(headline(report)))]
    rows += [f"<p>{_code(said)}</p>" for said in (report.problem, begin_with(report)) if said]
    for function, items in by_function(report):
        holding = [item for item in items if item.verdict == "passed"]
        others = [item for item in items if item.verdict != "passed"]
        rows.append(_title(f"<code>{escape(function)}</code>", "name", 5))
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
        details = "".join(f"<p>{_code(detail)}</p>" for detail in item.details)
        state = f'<b class="state">{escape(item.state)}</b>'
        rows.append(f'<li class="{item.verdict}">{state}: {_code(item.sentence)}{details}</li>')
    return f"<ul>{''.join(rows)}</ul>" if rows else ""


def _overview_html(reports: tuple[StepReport, ...]) -> str:
    done, of = _done(reports)
    rows = "".join(
        f'<tr><th scope="row">{escape(BY_ID[report.step].label)}</th>'
        f"<td>{_symbol(report)} {escape(report.summary())}</td></tr>"
        for report in reports
    )
    bar = f'<progress max="{of}" value="{done}" aria-hidden="true"></progress>'
    kind = _kind(reports).capitalize()
    head = f'<thead><tr><th scope="col">{kind}</th><th scope="col">Public checks</th></tr></thead>'
    table = f"<table>{head}<tbody>{rows}</tbody></table>"
    return f"{_title(escape(_how_far(reports)))}{bar}{table}<p>{_code(following(reports))}</p>"
