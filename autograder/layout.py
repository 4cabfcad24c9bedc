"""What a folder or archive looks like: one student's, a class's, or a platform's bulk download."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from autograder.conventions import (
    DELIVERABLES,
    EXACT,
    MAX_TIMESTAMP_BYTES,
    NUMBERED,
    TIMESTAMP,
    Sender,
    Signatures,
    bound_names,
    canvas,
    moodle,
    most_alike,
    named_for,
    stem_of,
    suffix_of,
    timestamp,
)
from autograder.gradescope_export import FOLDER
from autograder.trees import InArchive, Place

#: How deep below a student's folder a notebook may lie: an assignment's folder, one that unpacking made.
_DEPTH_OF_WORK = 3
#: More numbered files than this are a class's (``attention_lab_17``), not one student's uploads.
_MOST_UPLOADS = 5

Layout = Literal["platform", "student", "one renamed file", "class"]


@dataclass(frozen=True)
class Course:
    """The assignment that is looked for."""

    assignment: str
    signatures: Signatures

    def layout(self, place: Place) -> Layout:
        """What a place holds."""
        inside = place.children()
        folders = [child for child in inside if child.is_folder]
        files = [child for child in inside if not child.is_folder]
        work = [child for child in files if self.is_work(child)]
        if self.are_a_platforms(files):
            return "platform"
        if any(_names_one_submission(folder) for folder in folders):
            return "class"
        if self._is_one_students(inside, work) or (self._of_assignment(folders) and not work):
            return "student"  # the latter in nbgrader's submitted/<student>/<assignment>
        if len(work) == 1 and not folders:
            return "student" if isinstance(place, InArchive) else "one renamed file"
        if isinstance(place, InArchive) and not work and sum(map(self.holds_work, folders)) < 2:
            return "student"  # the zip that somebody made of a folder
        return "class"

    def wrapped_in(self, place: Place) -> Place | None:
        """The folder with the submissions, where ``place`` is only what lies around it."""
        inside = place.children()
        folders = [child for child in inside if child.is_folder]
        if any(self.is_work(child) for child in inside if not child.is_folder):
            return None
        only = self._of_assignment(folders) or (folders[0] if len(folders) == 1 else None)
        return only if only and self._holds_students(only) else None

    def sender(self, place: Place) -> Sender | None:
        """Whose a file or folder is, where a platform wrote that into its name."""
        if place.is_folder:
            return moodle(place.name)
        return moodle(place.name) or canvas(place.name, self.signatures)

    def is_exported(self, folder: Place) -> bool:
        """Whether Gradescope's export has a folder of this name."""
        return FOLDER.fullmatch(folder.name) is not None

    def collected(self, student: Place) -> datetime | None:
        """When nbgrader took in a student's folder: ``<student>/<assignment>/timestamp.txt``, where it is there."""
        folder = self._of_assignment([child for child in student.children() if child.is_folder])
        for file in folder.children() if folder else ():
            if file.name == TIMESTAMP and not file.is_folder:
                return timestamp(file.start(MAX_TIMESTAMP_BYTES).decode("utf-8", "replace"))
        return None

    def are_a_platforms(self, files: Sequence[Place]) -> bool:
        """Whether files come from a bulk download. One name alone may have the look of it by chance."""
        return 0 < len(files) <= 2 * sum(self.sender(file) is not None for file in files)

    def is_work(self, file: Place) -> bool:
        """Whether somebody may have handed this in by itself; a module only if it has the lab's names."""
        suffix = suffix_of(file.name)
        if suffix == ".py" and not named_for(file.name, self.signatures):
            text = file.peek()
            return any(bound_names(text, contract) for contract in self.signatures.values())
        return bool(suffix) or file.name.lower().endswith(".zip")

    def holds_work(self, folder: Place, depth: int = _DEPTH_OF_WORK) -> bool:
        """Whether notebooks, archives, or modules that are named like a notebook lie in or below a folder."""
        inside = folder.children()
        return any(
            suffix_of(child.name) == ".ipynb"
            or child.name.lower().endswith(".zip")
            or named_for(child.name, self.signatures)
            for child in inside
            if not child.is_folder
        ) or (depth > 1 and any(self.holds_work(child, depth - 1) for child in inside if child.is_folder))

    def _is_one_students(self, inside: list[Place], work: list[Place]) -> bool:
        """Whether a place is one student's rather than a class's.

        It is if a notebook of the assignment lies in it under its own name, or what the notebook writes; but
        not if others lie beside it that look like the same notebook, or if several folders hold notebooks:
        a forgotten copy in the folder of a class must not turn the class into one student.
        """
        folders = [child for child in inside if child.is_folder]
        files = [child for child in inside if not child.is_folder]
        alike = {file.name: found for file in files if (found := named_for(file.name, self.signatures))}
        numbered = [found for found in alike.values() if found.clarity == NUMBERED]
        named = {found.notebook for found in alike.values() if found.clarity == EXACT}
        if len(alike) == len(work) == len(numbered) == 1:
            named = {numbered[0].notebook}
        if not named and not any(self._is_left_by_a_notebook(child) for child in inside):
            return not work and not folders
        if len(numbered) > _MOST_UPLOADS or sum(map(self.holds_work, folders)) > 1:
            return False
        archives = [child for child in work if not suffix_of(child.name) and not self._is_named(child)]
        if len(archives) > 1:
            return False
        renamed = [child for child in work if suffix_of(child.name) == ".ipynb" and child.name not in alike]
        return not any(most_alike(child.peek(), self.signatures) in named for child in renamed)

    def _is_left_by_a_notebook(self, place: Place) -> bool:
        """Whether a notebook wrote it, or it is a folder that somebody gave a notebook's name."""
        return place.name in DELIVERABLES or (place.is_folder and bool(named_for(place.name, self.signatures)))

    def _is_named(self, archive: Place) -> bool:
        """Whether an archive is named for a notebook, as Otter's are: ``attention_lab_2024_03_15….zip``."""
        return named_for(f"{stem_of(archive.name)}.ipynb", self.signatures) is not None

    def _of_assignment(self, folders: Sequence[Place]) -> Place | None:
        """The folder that has the assignment's name, where the others are other assignments' (``lab06``).

        Beside folders of people it is one more of those.
        """
        kind = _without_number(self.assignment)
        found = [folder for folder in folders if folder.name.casefold() == self.assignment.casefold()]
        if not found or any(_without_number(f.name) != kind and self.holds_work(f) for f in folders):
            return None
        return found[0]

    def _holds_students(self, folder: Place) -> bool:
        """Whether a folder is a class's, when it might be a student's as well."""
        inside = folder.children()
        folders = [child for child in inside if child.is_folder]
        if self._of_assignment(folders):
            return False
        files = [child for child in inside if not child.is_folder]
        if any(map(_names_one_submission, folders)) or self.are_a_platforms(files):
            return True
        if sum(map(self.holds_work, folders)) > 1:
            return True
        notebooks = [file for file in files if suffix_of(file.name) == ".ipynb"]
        # On disk the folder's name is a student's; in an archive it is whatever was packed.
        in_archive = isinstance(folder, InArchive)
        return in_archive and len(notebooks) > 1 and not self._is_one_students(inside, notebooks)


def _without_number(name: str) -> str:
    return re.sub(r"\d+", "#", name.casefold())


def _names_one_submission(folder: Place) -> bool:
    return bool(FOLDER.fullmatch(folder.name) or moodle(folder.name))
