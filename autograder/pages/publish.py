"""Everything that is made from the results of a folder: the table, the feedback pages, the class page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.pages.class_page import class_page
from autograder.pages.feedback import feedback
from autograder.pages.render import Hint
from autograder.pages.reveals import Reveals
from autograder.results import Kept, read_all, write_file
from autograder.table import grades


def known_hints() -> Mapping[str, Hint]:
    """What to say about each suspect, by its identifier; where two notebooks have one of a name, the lab's."""
    from autograder.suspects.registry import NOTEBOOKS, all_suspects

    return {suspect.id: suspect for notebook in reversed(NOTEBOOKS) for suspect in all_suspects(notebook)}


def publish(
    out: Path, title: str, hints: Mapping[str, Hint], shown: Reveals | None = None
) -> tuple[list[Kept], list[Path]]:
    """Write ``grades.csv``, ``feedback/*.html`` and ``index.html``; give back what they were made from.

    ``shown``: what feedback pages may show, by default all but rubrics; and the rubrics, for the class page.

    `results.FolderError` where one cannot be written.
    """
    kept, unreadable = read_all(out)
    write_file(out / "grades.csv", grades([one.result for one in kept]).encode("utf-8"))
    for one in kept:
        write_file(out / "feedback" / f"{one.stem}.html", feedback(one, title, hints, shown).encode("utf-8"))
    names = [path.name for path in unreadable]
    write_file(out / "index.html", class_page(kept, title, hints, names, shown.guides if shown else {}).encode("utf-8"))
    return kept, unreadable
