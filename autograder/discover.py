"""Paths on the command line to submissions: who handed in what, as each convention tells people apart.

Mostly names are looked at here, so a class of hundreds is listed at once; `submission.load` reads one
submission when its turn comes. A path that cannot be read is a submission too, with the reason as its
``problem``: nobody is lost.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from autograder.conventions import Platform, Sender, Signatures, stem_of, student_in
from autograder.disk import CannotRead
from autograder.gradescope_export import MAX_METADATA_BYTES, METADATA, read_metadata
from autograder.layout import Course
from autograder.names import display_name, valid_unicode
from autograder.result import Student
from autograder.trees import OnDisk, Piece, Place, folder_on_disk, inside_archive

#: Names that one sentence lists.
_LISTED = 5


class Handed(msgspec.Struct, frozen=True, kw_only=True):
    """One submission before it is read: whose it is, and where its parts lie.

    ``name`` is the original, valid Unicode, and no other submission of this run has it. ``student_id`` is the
    platform's number of the student, where it tells; ``students`` all that it says about who handed in, several for
    a group; ``received`` when that was. ``problem`` says why there is nothing to read.
    """

    name: str
    pieces: tuple[Piece, ...] = ()
    late: bool = False
    student_id: str | None = None
    problem: str | None = None
    platform: Platform | None = None
    received: datetime | None = None
    students: tuple[Student, ...] = ()


class Found(msgspec.Struct):
    """``handed`` in the order of their names; ``left_out`` are sentences on files that are nobody's."""

    handed: list[Handed]
    left_out: list[str]


def discover(paths: Sequence[str | os.PathLike[str]], assignment: str, signatures: Signatures) -> Found:
    """The submissions under all ``paths``, each once. Nothing raises; see `Handed.problem`."""
    search = _Search(Course(assignment, signatures))
    files: dict[Path, list[Place]] = {}
    for path in _each_once(paths):
        try:
            if path.is_dir():
                # nbgrader's submitted/<student>/<assignment> is the student's, not "lab07"'s.
                own = path.name.casefold() != assignment.casefold()
                search.in_place(folder_on_disk(str(path), path.name if own else path.parent.name), path)
            elif path.suffix.lower() == ".zip":
                search.in_place(inside_archive(str(path), stem_of(path.name)), path)
            else:
                path.stat()
                files.setdefault(path.parent, []).append(OnDisk(path.name, "file", os.fsencode(path)))
        except (CannotRead, OSError) as error:
            search.nothing_at(path, str(error) if isinstance(error, CannotRead) else "cannot be opened")
    for folder, given in files.items():
        search.by_file(given, folder, all_are_work=True)
    return Found(_told_apart(search.found), search.left_out)


@dataclass
class _Search:
    """What was found so far: each submission with the path that it came from."""

    course: Course
    found: list[tuple[Handed, Path]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def in_place(self, place: Place, source: Path) -> None:
        """All submissions in a folder or archive, which is one student's or holds many."""
        while wrapped := self.course.wrapped_in(place):
            place = wrapped
        layout = self.course.layout(place)
        inside = place.children()
        # In a class's folder a link without a suffix may stand for a student's folder. It is not followed.
        folders = [
            c for c in inside if c.is_folder or (layout == "class" and c.kind == "link" and not Path(c.name).suffix)
        ]
        files = [child for child in inside if child not in folders]
        if layout == "student":
            self._add(place.name, place.pieces(), source)
        elif layout == "one renamed file":
            # The folder of one student, or a flat folder of one: the name says both.
            file = next(child for child in files if self.course.is_work(child))
            self._add(f"{place.name}/{stem_of(file.name)}", place.pieces(), source)
        else:
            if layout == "platform":
                # Whatever else lies in a bulk download is somebody's only if there is work in it.
                folders = [child for child in folders if self.course.sender(child) or self.course.holds_work(child)]
            metadata = next((file for file in files if file.name == METADATA), None)
            if metadata is not None and any(self.course.is_exported(folder) for folder in folders):
                folders = self._exported(folders, metadata.start(MAX_METADATA_BYTES), source)
                files.remove(metadata)
            self._by_folder(folders, source)
            self.by_file(files, source)

    def by_file(self, files: Sequence[Place], source: Path, *, all_are_work: bool = False) -> None:
        """A file for each student, or a few with one student's name or number in them."""
        if self.course.are_a_platforms(files):
            files = self._by_sender(files, source)
        students: dict[str, list[Place]] = {}
        nobodys = []
        for file in files:
            if all_are_work or self.course.is_work(file):
                students.setdefault(student_in(file.name, self.course.signatures), []).append(file)
            else:
                nobodys.append(display_name(file.name))
        for student, theirs in students.items():
            self._add(student, tuple(piece for file in theirs for piece in file.pieces(file.name)), source)
        if nobodys:
            more = f" and {len(nobodys) - _LISTED} more" if len(nobodys) > _LISTED else ""
            self.left_out.append(
                f"Left out of {display_name(source.name)}, being nobody's notebook, module or archive: "
                f"{', '.join(nobodys[:_LISTED])}{more}."
            )

    def nothing_at(self, path: Path, reason: str) -> None:
        problem = (
            f"{display_name(path.name)} {reason}, so there is nothing to grade. "
            "Check the path, or ask for the file again."
        )
        self.found.append((Handed(name=valid_unicode(stem_of(path.name) or str(path)), problem=problem), path))

    def _by_folder(self, folders: Sequence[Place], source: Path) -> None:
        """A folder for each student, an empty one as well."""
        for folder in self._by_sender(folders, source):
            self._add(folder.name, folder.pieces(), source, received=self.course.collected(folder))

    def _by_sender(self, places: Sequence[Place], source: Path) -> list[Place]:
        """Those that a platform named, put together by student; the rest is given back."""
        senders: dict[tuple[str, str | None], list[tuple[Sender, Place]]] = {}
        rest = []
        for place in places:
            sender = self.course.sender(place)
            if sender:
                senders.setdefault((sender.who, sender.user), []).append((sender, place))
            else:
                rest.append(place)
        for (who, user), theirs in senders.items():
            pieces = tuple(piece for sender, place in theirs for piece in place.pieces(sender.file, sender.order))
            platform = theirs[0][0].platform
            student = Student(name=valid_unicode(who), id=user)
            late = any(sender.late for sender, _ in theirs)
            self._add(who, pieces, source, late=late, student_id=user, platform=platform, students=(student,))
        return rest

    def _exported(self, folders: Sequence[Place], metadata: bytes, source: Path) -> list[Place]:
        """The folders of a Gradescope export that its list says something about; the rest is given back."""
        try:
            entries = read_metadata(metadata)
        except ValueError as error:
            self.left_out.append(f"{METADATA} cannot be read ({error}); submissions keep the names of their folders.")
            return list(folders)
        there = {folder.name: folder for folder in folders}
        for name, entry in entries.items():
            self._add(
                ", ".join(student.name for student in entry.students) or name,
                there[name].pieces() if name in there else (),
                source,
                student_id=entry.students[0].id if entry.students else name,
                platform="gradescope",
                students=entry.students,
                received=entry.received,
                problem=None if name in there else f"{name} is in {METADATA}, and there is no such folder.",
            )
        return [folder for folder in folders if folder.name not in entries]

    def _add(self, name: str, pieces: tuple[Piece, ...], source: Path, **facts: Any) -> None:
        self.found.append((Handed(name=valid_unicode(name), pieces=pieces, **facts), source))


def _each_once(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The paths, absolute so that ``.`` has a name; a link keeps its own, which people know."""
    return list(dict.fromkeys(Path(os.path.abspath(path)) for path in paths))  # noqa: PTH100


def _told_apart(found: list[tuple[Handed, Path]]) -> list[Handed]:
    """The submissions, none twice, each under a name of its own.

    Of the same name, the platform's number tells them apart, else the path they came from, else a count.
    """
    once: dict[object, tuple[Handed, Path]] = {}
    roots = {root: Path(os.fsdecode(root)).resolve() for handed, _ in found for root in {p.root for p in handed.pieces}}
    for handed, source in found:
        where = tuple((roots[p.root].joinpath(*map(os.fsdecode, p.inner)), p.entry) for p in handed.pieces)
        # Without any files no two are known to be one, and each counts.
        once.setdefault(where or len(once), (handed, source))
    distinct = list(once.values())
    for tell in (
        lambda handed, _: handed.student_id,
        lambda _, source: valid_unicode(_in_its_folder(source)),
    ):
        counts = Counter(handed.name for handed, _ in distinct)
        distinct = [
            (msgspec.structs.replace(handed, name=f"{handed.name} ({more})"), source)
            if counts[handed.name] > 1 and (more := tell(handed, source))
            else (handed, source)
            for handed, source in distinct
        ]
    taken: set[str] = set()
    result = []
    for handed, _ in sorted(distinct, key=lambda pair: (pair[0].name, pair[1])):
        name, number = handed.name, 1
        while name in taken:
            number += 1
            name = f"{handed.name} ({number})"
        taken.add(name)
        result.append(msgspec.structs.replace(handed, name=name))
    return result


def _in_its_folder(source: Path) -> str:
    return f"{source.parent.name}/{source.name}"
