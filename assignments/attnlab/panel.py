"""The panel in words: HTML for a notebook, plain text everywhere else. Colour only repeats what words say."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from attnlab.record import HIDDEN_NOTE, WORDS, Outcome, StepReport, Verdict

BAR = 20

#: JupyterLab's own colours where it sets them, and otherwise a light and a dark set of our own.
STYLE = """
.attnlab{--al-ink:var(--jp-ui-font-color0,#1b1f24);--al-soft:var(--jp-ui-font-color1,#4b5563);
--al-paper:var(--jp-layout-color0,#ffffff);--al-line:var(--jp-border-color1,#9ca3af);
--al-good:#166534;--al-bad:#9f1239;--al-wait:#4b5563;
color:var(--al-ink);background:var(--al-paper);border:1px solid var(--al-line);border-radius:6px;
padding:.6em .9em;margin:.3em 0;max-width:56em;font-family:var(--jp-ui-font-family,system-ui,sans-serif);
font-size:var(--jp-ui-font-size1,14px);line-height:1.5}
.attnlab h4{margin:.2em 0 .3em;font-size:1.08em;color:var(--al-ink)}
.attnlab h5{margin:.7em 0 .1em;font-size:1em;color:var(--al-ink)}
.attnlab ul{margin:0;padding:0;list-style:none}
.attnlab li{margin:.25em 0;padding-left:.6em;border-left:3px solid var(--al-edge,var(--al-line))}
.attnlab .passed{--al-edge:var(--al-good)}
.attnlab .failed,.attnlab .error{--al-edge:var(--al-bad)}
.attnlab b.state{color:var(--al-edge,var(--al-wait))}
.attnlab p{margin:.1em 0}
.attnlab .note{color:var(--al-soft);margin-top:.6em}
.attnlab table{border-collapse:collapse;color:var(--al-ink);font-size:inherit}
.attnlab th,.attnlab td{text-align:left;padding:.15em 1em .15em 0;font-weight:normal}
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
        said = "".join(f'<p class="note">{escape(note)}</p>' for note in notes(self.reports))
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
    """Sentences under the checks: what a person reads, and that there are hidden checks."""
    written = [report.written for report in reports if report.written]
    return [*written, HIDDEN_NOTE]


def headline(report: StepReport) -> str:
    """``Step 1. Scaled dot-product attention: 3 of 12 public checks hold``."""
    title = f"Step {report.number}. {report.title}" if report.number else report.title
    return f"{title}: {report.summary()}" if report.number else title


@dataclass(frozen=True)
class Line:
    """One line of a function's list, with ``details``: what came back, what it looks like, where to read."""

    verdict: Verdict
    sentence: str
    details: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        symbol, words = WORDS[self.verdict]
        return f"{symbol} {words}"


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
            many = f"{more} {'checks' if more > 1 else 'check'} of `{function}`"
            lines.append(Line("waits", f"{many} until what comes before holds."))
        groups.append((function, lines))
    return groups


def _line(outcome: Outcome) -> Line:
    if outcome.verdict == "passed":
        return Line(outcome.verdict, outcome.sentence)
    if outcome.verdict in ("not_written", "waits"):  # the sentence of the check says nothing new here
        return Line(outcome.verdict, outcome.message)
    details = [outcome.message]
    if outcome.looks_like:
        details.append(f"What it most looks like: {outcome.looks_like}")
    if outcome.read:
        details.append(f"Read: {outcome.read}.")
    return Line(outcome.verdict, outcome.sentence, tuple(details))


def text(reports: tuple[StepReport, ...], *, with_notes: bool = True) -> str:
    """The panel as plain text."""
    lines: list[str] = []
    for report in reports:
        lines.append(headline(report))
        if report.problem:
            lines.append(f"  {report.problem}")
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
    lines = [progress_line(reports)]
    lines += [
        f"  {_symbol(report)} Step {report.number}  {report.title:<{width}}  {report.summary()}"
        for report in reports
    ]
    return "\n".join([*lines, "", *([following(reports)] if following(reports) else []), HIDDEN_NOTE])


def progress_line(reports: tuple[StepReport, ...]) -> str:
    """How far the lab has come: a bar, and the same in numbers."""
    done = sum(report.passed for report in reports)
    full = BAR * done // len(reports)
    return f"[{'#' * full}{'.' * (BAR - full)}] {done} of {len(reports)} steps hold in public"


def following(reports: tuple[StepReport, ...]) -> str:
    """Which step to look at now."""
    for report in reports:
        if not report.passed:
            return f'Next: step {report.number}, {report.title}. In a notebook: check("{report.step}")'
    return "Every public check holds."


def _symbol(report: StepReport) -> str:
    verdict = "passed" if report.passed else "not_written" if report.untouched else "failed"
    return {"passed": "✓", "not_written": "○", "failed": "✗"}[verdict]


def _code(sentence: str) -> str:
    """Escaped, with `names` between backticks as code."""
    parts = escape(sentence).split("`")
    return "".join(
        f"<code>{part}</code>" if at % 2 and at < len(parts) - 1 else part for at, part in enumerate(parts)
    )


def _report_html(report: StepReport) -> str:
    rows = [f"<h4>{escape(headline(report))}</h4>"]
    if report.problem:
        rows.append(f"<p>{escape(report.problem)}</p>")
    for function, items in by_function(report):
        rows.append(f"<h5><code>{escape(function)}</code></h5><ul>")
        for item in items:
            details = "".join(f"<p>{_code(detail)}</p>" for detail in item.details)
            state = f'<b class="state">{escape(item.state)}</b>'
            rows.append(f'<li class="{item.verdict}">{state}: {_code(item.sentence)}{details}</li>')
        rows.append("</ul>")
    return "".join(rows)


def _overview_html(reports: tuple[StepReport, ...]) -> str:
    rows = "".join(
        f'<tr><td aria-hidden="true">{_symbol(report)}</td><th scope="row">Step {report.number}. '
        f"{escape(report.title)}</th><td>{escape(report.summary())}</td></tr>"
        for report in reports
    )
    head = f"<h4>{escape(progress_line(reports))}</h4>"
    return f"{head}<table><tbody>{rows}</tbody></table><p>{escape(following(reports))}</p>"
