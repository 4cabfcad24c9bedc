"""What ``attnlab check --watch`` shows: one screen on a terminal, plain lines elsewhere."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.text import Text

from attnlab import keys, panel
from attnlab.hints import DEPTHS, hint
from attnlab.record import HIDDEN_NOTE, StepReport
from attnlab.steps import NOTEBOOKS
from attnlab.watch import LOOK, Watch
from attnlab.words import clean

#: A check that takes longer says for how long it has been running.
LONG = 2.0

_MORE = "… {count} more lines, for which this window is too small: {command} shows them."


def watch_until_the_end(watch: Watch, as_json: Callable[[Watch], str] | None = None) -> None:
    """Look, check, show and listen until ``q`` or Ctrl-C. Raises ``Unreadable`` if there is nothing to watch.

    ``as_json`` gives a line to print after each check, in place of everything else.
    """
    console = Console(highlight=False)
    interactive = keys.available() and as_json is None
    shown: object = None
    with keys.reading() as read:
        try:
            while not watch.over:
                watch.look()
                watch.advance()
                if interactive:
                    now = (*parts(watch), console.size)
                    if now != shown:
                        _draw(console, *now[:3], command=_all_of_it(watch))
                        shown = now
                elif not watch.busy and watch.finished != shown:
                    shown = watch.finished
                    print(as_json(watch) if as_json else _plain(watch), flush=True)
                key = read(LOOK)
                if interactive and key:
                    watch.press(key)
        except KeyboardInterrupt:
            pass
        finally:
            watch.close()


def parts(watch: Watch) -> tuple[list[str], list[str], list[str]]:
    """What stands at the top, in the middle (which may be cut) and at the bottom."""
    if watch.solution and watch.current is not None:
        top = [f"A solution of {watch.current.label}", ""]
        return top, watch.solution.splitlines(), ["", "s or space: back to your own   q quit"]
    return _top(watch), [*_middle(watch)], _bottom(watch)


def _top(watch: Watch) -> list[str]:
    files = ", ".join(clean(watch.files[name].name) for name in NOTEBOOKS if name in watch.files)
    checked = f", checked at {watch.checked_at}" if watch.checked_at else ""
    state = f"watching {files}{checked}; save to check again"
    if watch.running is not None:
        elapsed = watch.running.elapsed
        state = f"checking {watch.running.found.file}" + (f" for {elapsed:.0f} s" if elapsed > LONG else " …")
    return [state, ""]


def _middle(watch: Watch) -> Iterator[str]:
    step = watch.current
    if step is None:
        return
    if watch.hint:
        more = "; h goes deeper" if watch.hint < max(DEPTHS) else ""
        yield from (f"Hint {watch.hint} of {max(DEPTHS)} ({step.read}{more})", hint(step.id, watch.hint), "")
    if step.notebook in watch.unreadable:
        yield f"! {watch.unreadable[step.notebook]}"
        return
    yield from (f"! {problem}" for problem in watch.problems.get(step.notebook, []))
    if watch.report is None:
        yield f"… {step.label}: not checked yet"
    else:
        yield from _report(watch.report)
        if watch.report.passed:
            yield from _goes_on(watch)


def _goes_on(watch: Watch) -> Iterator[str]:
    following = watch.unfinished()
    yield ""
    if following is not None:
        yield f"This one holds. Next: {following.label}."
    else:
        yield "Every public check holds."


def _report(report: StepReport) -> Iterator[str]:
    """A step's checks; those that hold are only counted, so that what does not is on the screen."""
    yield panel.headline(report)
    yield from (f"  {said}" for said in (report.problem, panel.begin_with(report)) if said)
    for function, items in panel.by_function(report):
        yield f"  {function}"
        holding = sum(item.verdict == "passed" for item in items)
        if holding:
            yield f"    ✓ {holding} {'check holds' if holding == 1 else 'checks hold'}"
        for item in items:
            if item.verdict != "passed":
                yield from panel.line_text(item)
    if report.written:
        yield f"  {report.written}"


def _bottom(watch: Watch) -> list[str]:
    asked = []
    if watch.asks and watch.current is not None:
        asked = [f"? {watch.current.name} does not hold yet. Press s once more to see its solution all the same."]
    said = [f"! {text}" for text in (watch.said, watch.summary.problem if watch.summary else "") if text]
    offered = ["h hint", "n next", "p previous", *(["s solution"] if watch.solved() else []), "r check again", "q quit"]
    return ["", *asked, *said, *_progress(watch), "   ".join(offered)]


def _progress(watch: Watch) -> list[str]:
    """A bar for the notebook of the present task, and that hidden checks exist."""
    if watch.current is None:
        return []
    steps = [step for step in watch.tasks if step.notebook == watch.current.notebook]
    known = tuple(watch.reports.get(s.id) or StepReport(s.id, s.number, s.title, ()) for s in steps)
    return [panel.progress_line(known), HIDDEN_NOTE]


def _plain(watch: Watch) -> str:
    """The first task that does not hold, for a log."""
    watch.go(watch.unfinished())
    lines = [time.strftime("%H:%M:%S"), *_middle(watch), "", *_progress(watch)]
    return "\n".join([*lines, "Watching; save the file to check again, Ctrl-C to stop."])


def _all_of_it(watch: Watch) -> str:
    """The command that shows the present task without a window."""
    step = f" --step {watch.current.id}" if watch.current else ""
    return f"attnlab check {clean(shlex.quote(str(watch.path)), 4096)}{step}"


def _draw(console: Console, top: list[str], middle: list[str], bottom: list[str], *, command: str) -> None:
    room = max(1, console.height - len(_wrapped(console, top)) - len(_wrapped(console, bottom)) - 1)
    lines = _wrapped(console, middle)
    if len(lines) > room and not bottom[-1].startswith("s or space"):  # a solution is read by scrolling
        cut = _wrapped(console, [_MORE.format(count=len(lines) - room + 1, command=command)])
        lines = [*lines[: max(0, room - len(cut))], *cut]
    console.clear()
    for line in [*_wrapped(console, top), *lines, *_wrapped(console, bottom)]:
        console.print(line, soft_wrap=True)


def _wrapped(console: Console, lines: list[str]) -> list[Text]:
    """Each line in its style, broken at the window's width; what continues is indented like its beginning."""
    found: list[Text] = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        style = panel.STYLES.get(line.strip()[:1], "")
        for part in Text(line.strip(), style).wrap(console, max(20, console.width - len(indent))) or [Text("")]:
            part.pad_left(len(indent))
            found.append(part)
    return found
