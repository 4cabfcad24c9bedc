"""Everything that is made from the results of a folder: the table, the feedback pages, the class page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.pages.class_page import class_page
from autograder.pages.feedback import feedback
from autograder.pages.render import Hint
from autograder.pages.reveals import Reveals
from autograder.results import Results, kept, read_all, write_file
from autograder.table import grades
from autograder.workers import one_process

#: Feedback pages from which on one more process makes some of them: it needs about as long to start.
WORTH_A_PROCESS = 100


@dataclass(frozen=True)
class Said:
    """What pages say about a suspect; without its code, it can go to another process."""

    hint: str
    read: str
    source: str


def known_hints() -> Mapping[str, Hint]:
    """What to say about each suspect, by its identifier; where two notebooks have one of a name, the lab's."""
    from autograder.suspects.registry import NOTEBOOKS, all_suspects

    return {
        suspect.id: Said(suspect.hint, suspect.read, suspect.source)
        for notebook in reversed(NOTEBOOKS)
        for suspect in all_suspects(notebook)
    }


def publish(
    out: Path, title: str, hints: Mapping[str, Hint], shown: Reveals | None = None, *, workers: int = 1
) -> tuple[Results, list[Path]]:
    """Write ``grades.csv``, ``feedback/*.html`` and ``index.html``; give back what they were made from.

    One result is held at a time, however many there are. ``shown``: what feedback pages may show, by default all but
    rubrics; and the rubrics, for the class page. ``workers``: as many processes may make feedback pages.

    `results.FolderError` where one cannot be written.
    """
    there, unreadable = read_all(out)
    with _feedback(out, there.stems, title, hints, shown, workers):
        write_file(out / "grades.csv", grades(one.result for one in there).encode("utf-8"))
        names = [path.name for path in unreadable]
        page = class_page(there, title, hints, names, shown.guides if shown else {})
        write_file(out / "index.html", page.encode("utf-8"))
    return there, unreadable


@contextmanager
def _feedback(
    out: Path, stems: list[str], title: str, hints: Mapping[str, Hint], shown: Reveals | None, workers: int
) -> Iterator[None]:
    """The feedback pages: in processes of their own while this lasts, or, where they are few, here behind it."""
    count = min(workers, len(stems) // WORTH_A_PROCESS)
    processes = [one_process() for _ in range(count)] if count > 1 else []
    made = [
        process.submit(write_pages, out, stems[i::count], title, hints, shown) for i, process in enumerate(processes)
    ]
    try:
        yield
        for one in made:
            one.result()
        if not made:
            write_pages(out, stems, title, hints, shown)
    finally:
        for process in processes:
            process.shutdown()


def write_pages(
    out: Path, stems: Iterable[str], title: str, hints: Mapping[str, Hint], shown: Reveals | None = None
) -> None:
    """The feedback pages of these results."""
    for stem in stems:
        page = feedback(kept(out, stem), title, hints, shown)
        write_file(out / "feedback" / f"{stem}.html", page.encode("utf-8"))
