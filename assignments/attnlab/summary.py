"""What to keep at the end: a Markdown file that says what passed, when, with which hints, and what to read again.

The file is the only memory: the same facts stand in its last line as JSON, and the next session reads them there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from attnlab.hints import DEPTHS
from attnlab.record import HIDDEN_NOTE, StepReport
from attnlab.step import KINDS, Step
from attnlab.steps import BY_ID, NOTEBOOKS

NAME = "attnlab-summary.md"
SCHEMA = "attnlab-summary/1"
#: A step that did not hold after so many saves is one to read again.
MANY_TRIES = 4
#: Sections that are listed for a step, those that its checks pointed to most often first.
MOST_SECTIONS = 3
#: When the solution was looked at.
_SOLUTION = {"after": "seen afterwards", "before": "seen before they held"}


@dataclass
class Entry:
    """One step: when its checks held first, the deepest hint that was read, and how it went."""

    passed_at: str = ""
    hint: int = 0
    solution_seen: str = ""
    tries: int = 0
    sections: dict[str, int] = field(default_factory=dict)


class Summary:
    """The facts of all sessions in one folder. What is noted is written at once; nothing is lost with the window."""

    def __init__(self, folder: Path) -> None:
        self.path, self.problem = folder / NAME, ""
        self.entries: dict[str, Entry] = {}
        number = 1
        while self.path.exists() and not self._read():  # not ours, or changed by hand: it stays as it is
            number += 1
            self.path = folder / f"{Path(NAME).stem}-{number}.md"

    def report(self, step: Step, report: StepReport, *, saved: bool) -> None:
        """Note what a check found; ``saved``: it was made because the file was saved while this was the task."""
        if report.passed and report.outcomes:
            if not self._entry(step).passed_at:
                self._entry(step).passed_at = _now()
                self._write()
        elif saved and not report.untouched and report.outcomes and not self._entry(step).passed_at:
            entry = self._entry(step)
            entry.tries += 1
            for section in dict.fromkeys(o.read for o in report.outcomes if o.verdict in ("failed", "error")):
                entry.sections[section] = entry.sections.get(section, 0) + 1
            self._write()

    def hint(self, step: Step, depth: int) -> None:
        """Note that a hint was read."""
        if depth > self._entry(step).hint:
            self._entry(step).hint = depth
            self._write()

    def solution(self, step: Step, *, passed: bool) -> None:
        """Note that the solution was shown, and whether the step held by then."""
        if not self._entry(step).solution_seen:
            self._entry(step).solution_seen = "after" if passed else "before"
            self._write()

    def text(self) -> str:
        """The file."""
        kept = [step for steps in NOTEBOOKS.values() for step in steps if step.id in self.entries]
        held = sum(bool(self.entries[step.id].passed_at) for step in kept)
        told = f"Tasks that you worked on: {len(kept)}. Of these, {held} have passed their public checks."
        lines = ["# What you did in the lab", "", told]
        for notebook in dict.fromkeys(step.notebook for step in kept):
            head = f"| {KINDS[notebook]} | Public checks | Saves before that | Hints read | Solution |"
            lines += ["", f"## {notebook}", "", head, "|---|---|---|---|---|"]
            lines += [_row(step, self.entries[step.id]) for step in kept if step.notebook == notebook]
        again = [line for step in kept for line in _read_again(step, self.entries[step.id])]
        if again:
            lines += ["", "## To read again", "", *again]
        facts = json.dumps({"schema": SCHEMA, "steps": {key: asdict(entry) for key, entry in self.entries.items()}})
        facts = facts.replace("--", "-\\u002d")  # two of them would end the comment
        return "\n".join([*lines, "", HIDDEN_NOTE, "", f"<!-- {facts} -->", ""])

    def _entry(self, step: Step) -> Entry:
        return self.entries.setdefault(step.id, Entry())

    def _read(self) -> bool:
        """Whether the file was written by this module; then its facts are taken over."""
        try:
            text = self.path.read_text(encoding="utf-8")
            match = re.search(r"^<!-- (\{.*\}) -->$", text, re.MULTILINE)
            data = json.loads(match[1]) if match else {}
            if data.get("schema") != SCHEMA:
                return False
            self.entries = {key: _checked(Entry(**found)) for key, found in data["steps"].items() if key in BY_ID}
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            return False
        return True

    def _write(self) -> None:
        draft = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            draft.write_text(self.text(), encoding="utf-8")
            draft.replace(self.path)
            self.problem = ""
        except OSError as error:
            self.problem = f"{self.path} cannot be written ({error.strerror}), so nothing is kept."
            with contextlib.suppress(OSError):
                draft.unlink()


def _checked(entry: Entry) -> Entry:
    """The entry, if each of its facts is of the kind that it should be; TypeError otherwise."""
    kinds = {name: type(value) for name, value in asdict(Entry()).items()}
    counts = entry.sections.values() if isinstance(entry.sections, dict) else [None]
    if any(type(getattr(entry, name)) is not kind for name, kind in kinds.items()) or set(map(type, counts)) - {int}:
        raise TypeError("a fact of another kind")
    return entry


def _now() -> str:
    return datetime.now().astimezone().isoformat(" ", "minutes")


def _row(step: Step, entry: Entry) -> str:
    hints = f"to depth {entry.hint} of {max(DEPTHS)}" if entry.hint else "none"
    solution = _SOLUTION.get(entry.solution_seen, "not seen")
    held = f"held on {entry.passed_at}" if entry.passed_at else "do not hold yet"
    return f"| {step.label} | {held} | {entry.tries} | {hints} | {solution} |"


def _read_again(step: Step, entry: Entry) -> Iterable[str]:
    """A line for a step that was not easy: what its checks pointed to most often, or else the step's own section."""
    why = []
    if entry.solution_seen == "before":
        why.append("you looked at the solution before yours held")
    if entry.hint > 1:
        why.append(f"you read hint {entry.hint}")
    if entry.tries >= MANY_TRIES:
        why.append(f"it took {entry.tries} saves")
    if why:
        often = sorted(entry.sections, key=lambda section: -entry.sections[section])[:MOST_SECTIONS]
        yield f"- {step.label}: {'; '.join(often or [step.read])} ({', and '.join(why)})."
