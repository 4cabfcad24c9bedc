"""Filling in the column of marks of a platform's list, the same for each platform."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from autograder.course import Course
from autograder.formats import FormatError
from autograder.formats.roster import Export, Line, Person, counted, status, undecided
from autograder.formats.sheet import Sheet
from autograder.names import display_name
from autograder.result import Result, mark_of, spoilt
from autograder.table import number

#: Names that one sentence lists.
_LISTED = 5


@dataclass(frozen=True)
class Marking:
    """What the person who exports may ask for: the column by its head, marks brought to the platform's maximum,
    and 0 for whoever handed in nothing (without it, what the platform has there is left alone).
    """

    column: str | None = None
    scale: bool = False
    missing_zero: bool = False


Found = tuple[dict[int, list[Result]], list[Result], list[str]]


def one_maximum(results: Sequence[Result]) -> float:
    """What full marks are; `FormatError` where the results do not agree, or there are none."""
    maxima = {result.max_score for result in results}
    if not maxima:
        raise FormatError("There are no results to export. Grade something first.")
    if len(maxima) > 1:
        raise FormatError(
            f"The results are out of {' and '.join(number(one) for one in sorted(maxima))} points, so some are from "
            "before course.toml was changed. Bring them up to date first: autograder regrade, or grade again."
        )
    return maxima.pop()


def fill(
    sheet: Sheet,
    column: int,
    people: Sequence[Person],
    found: Found,
    course: Course,
    marking: Marking,
    maxima: tuple[float, str],
    *,
    keep: Collection[str] = (),
    also: Callable[[int, Result], None] | None = None,
) -> Export:
    """Write everybody's mark into ``column``, and a line on everybody: those without a submission, and those whose
    submission is nobody's, as well. ``maxima``: full marks here, and what the platform has for them, as it writes it.
    A cell that says one of ``keep`` stays. ``also``: what else is written in a row.
    """
    by_row, nobodys, doubts = found
    show = _shown(sheet, *maxima, marking)
    lines, changed, kept = [], 0, []
    for person in people:
        before = sheet.cell(person.row, column).strip()
        line = Line(
            person.name, (*person.ids, *person.others, "")[0], "missing", note=f"was {before}" if before else ""
        )
        lines.append(line)
        theirs = by_row.get(person.row)
        if before in keep and before:
            line.status = "excused" if before == "EX" else "not for this student"
            if theirs:
                kept.append(person.name)
                line.result = theirs[0]
            continue
        if not theirs:
            if marking.missing_zero:
                line.written = show(0.0)
                changed += _replaces(before, line.written)
                sheet.put(person.row, column, line.written)
            continue
        result, others = counted(theirs, course.policy.attempts)
        line.result, line.status = result, status(result)
        notes = [line.note, others, undecided(result)]
        if spoilt(result):
            notes.append("not written: an error of the grader is in it")
        else:
            line.written = show(mark_of(result))
            changed += _replaces(before, line.written)
            sheet.put(person.row, column, line.written)
            if also is not None:
                also(person.row, result)
        line.note = "; ".join(note for note in notes if note)
    lines += [
        Line(display_name(one.submission), _id(one), f"not on the list, {status(one)}", one, note=undecided(one))
        for one in nobodys
    ]
    return Export(b"", lines, [*_summary(lines, changed, kept, marking), *doubts])


def _shown(sheet: Sheet, maximum: float, platforms: str, marking: Marking) -> Callable[[float], str]:
    """How a mark is written: with the decimal sign of the platform's maximum, and brought to it if that is asked."""
    theirs = _read(platforms)
    factor = Fraction(1)
    if theirs is not None and theirs != maximum:
        if not marking.scale:
            raise FormatError(
                f"In {sheet.name} this assignment has {number(theirs)} points, and the results are out of "
                f"{number(maximum)}. Change it there, or bring the marks to {number(theirs)} with --scale."
            )
        factor = Fraction(repr(theirs)) / Fraction(repr(maximum))
    comma = "," in platforms

    def show(mark: float) -> str:
        text = number(float(Fraction(repr(mark)) * factor))
        return text.replace(".", ",") if comma else text

    return show


def _replaces(before: str, written: str) -> bool:
    """Whether another mark stood in the cell; ``240.00`` and ``240`` are one."""
    return before not in ("", "-", written) and _read(before) != _read(written)


def _read(text: str) -> float | None:
    """A mark or a maximum as a platform writes it, with a point or a comma; None where there is no number."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def _id(result: Result) -> str:
    return next((student.id or student.email or "" for student in result.students), "")


def _summary(lines: Sequence[Line], changed: int, kept: Sequence[str], marking: Marking) -> list[str]:
    def those(what: str, chosen: Sequence[Line]) -> list[str]:
        if not chosen:
            return []
        names = ", ".join(display_name(line.student) for line in chosen[:_LISTED])
        more = f" and {len(chosen) - _LISTED} more" if len(chosen) > _LISTED else ""
        return [f"{len(chosen)} {what}: {names}{more}."]

    written = [line for line in lines if line.written and line.result]
    sentences = [f"{len(written)} marks are filled in, {sum(one.status == 'late' for one in written)} of late work."]
    rest = "they get 0" if marking.missing_zero else "what was in their cells is left"
    sentences += those(f"handed in nothing ({rest})", [line for line in lines if line.status == "missing"])
    nobodys = [line for line in lines if line.status.startswith("not on the list")]
    sentences += those("submissions are of nobody on the list, so their marks are not in it", nobodys)
    sentences += those(
        "have an error of the grader in them and are not filled in",
        [line for line in lines if line.result and not line.written and spoilt(line.result)],
    )
    waiting = [line for line in written if line.result and undecided(line.result)]
    sentences += those("marks are not complete, as points of them wait for a person or a machine", waiting)
    if changed:
        sentences.append(f"{changed} marks that were there before are replaced by others.")
    if kept:
        sentences.append(
            f"Left as excused though there is a submission: {', '.join(map(display_name, kept[:_LISTED]))}."
        )
    return sentences
