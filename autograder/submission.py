"""One submission, from whatever was handed in to cells and files; the only door that its bytes come in by.

Never raises for what a submission holds: what cannot be read becomes a sentence in ``message``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from autograder.choice import Chosen, choose
from autograder.conventions import DELIVERABLES, Signatures, canvas, is_extra, moodle, named_for, suffix_of
from autograder.discover import Handed
from autograder.disk import CannotRead, too_large
from autograder.names import valid_unicode
from autograder.notebook_file import Cell, Notebook, is_notebook
from autograder.parts import Part, Parts

__all__ = ["Cell", "Notebook", "Submission", "load", "read"]

#: Limits of the files beside the notebooks.
MAX_FILE_BYTES = 8 << 20
MAX_FILES_BYTES = 32 << 20
MAX_FILES = 200
MAX_DEPTH = 4
MAX_NAME_BYTES = 255
#: Files that are tried at all; each may take `MAX_FILE_BYTES` to find out that it is too large.
MAX_TRIED = 400
#: Archives of one submission that are opened, and how deep one may lie in another.
MAX_ARCHIVES = 20
MAX_NESTED = 2
#: Characters of a message, and things that one sentence of it lists.
MAX_MESSAGE = 4_000
_LISTED = 5


class Submission(msgspec.Struct, kw_only=True):
    """What one person handed in, read; plain data that travels to a worker process.

    ``notebooks`` holds those that were found; ``files`` the small files beside them by their path
    (``helpers.py``, ``pkg/__init__.py``, ``measurements.json``), relative to the notebook, never absolute.
    ``message`` is what a person should know; ``digest`` the SHA-256 of names and contents that were read.
    """

    name: str
    notebooks: dict[str, Notebook] = {}
    files: dict[str, bytes] = {}
    message: str | None = None
    digest: str = ""


def load(handed: Handed, assignment: str, signatures: Signatures, expected: Collection[str] = ()) -> Submission:
    """Read what was handed in, from disk or from the archive it is in.

    ``expected``: the notebooks that should be there; empty: all that have a signature.
    """
    with Parts() as parts:
        found = parts.of(handed.pieces)
        return _submission(handed.name, found, parts, assignment, signatures, handed.problem, expected)


def read(name: str, files: Mapping[str, bytes], assignment: str, signatures: Signatures) -> Submission:
    """The same from bytes in memory, by path; an archive among them is opened."""
    found = [
        Part(path, "file", 0, partial(_in_memory, data))
        for file, data in files.items()
        if (path := tuple(p for p in valid_unicode(file).split("/") if p not in ("", ".", "..")))
    ]
    with Parts() as parts:
        return _submission(valid_unicode(name), found, parts, assignment, signatures, None)


def _submission(
    name: str,
    found: list[Part],
    parts: Parts,
    assignment: str,
    signatures: Signatures,
    problem: str | None,
    expected: Collection[str] = (),
) -> Submission:
    if problem:
        return Submission(name=name, message=problem, digest=_digest([], [problem]))
    said: list[str] = []
    found = _of_assignment(found, assignment)
    if not _has_notebook(found, signatures):
        found = [_by_its_content(part, said) for part in found]
    if not _has_notebook(found, signatures):
        found = _of_assignment(found + _unpacked(found, parts, signatures, said), assignment)
    chosen, problems = choose(found, signatures, expected)
    files, left_out = _beside(found, chosen)
    said += [*parts.problems, *problems, *(p for one in chosen for p in one.notebook.problems), *left_out]
    message = " ".join(dict.fromkeys(said))
    read_files = [("notebook", "/".join(one.part.path), one.digest) for one in chosen]
    read_files += [("file", path, hashlib.sha256(data).hexdigest()) for path, data in files.items()]
    return Submission(
        name=name,
        notebooks={one.notebook.name: one.notebook for one in chosen},
        files=files,
        message=(message[: MAX_MESSAGE - 1] + "…" if len(message) > MAX_MESSAGE else message) or None,
        digest=_digest(read_files, said),
    )


def _in_memory(data: bytes, limit: int) -> bytes:
    if len(data) > limit:
        raise CannotRead(too_large(limit))
    return data


def _is_notebook(part: Part, signatures: Signatures) -> bool:
    if is_extra(part.name, signatures):
        return False
    return suffix_of(part.name) == ".ipynb" or named_for(part.name, signatures) is not None


def _has_notebook(parts: Iterable[Part], signatures: Signatures) -> bool:
    return any(part.kind == "file" and _is_notebook(part, signatures) for part in parts)


def _by_its_content(part: Part, said: list[str]) -> Part:
    """A notebook that lost its suffix (``.ipynb.part``, ``.json``, none) as the notebook that it is."""
    if part.kind != "file" or suffix_of(part.name) or part.name in DELIVERABLES:
        return part
    with suppress(CannotRead):
        if is_notebook(part.read(MAX_FILE_BYTES)):
            said.append(f"{part.shown} was read as a notebook, whatever its name.")
            stem = re.sub(r"(\.[a-z]{3,8})*[\s~]*$", "", part.name, flags=re.IGNORECASE) or part.name
            return part._replace(path=(*part.path[:-1], f"{stem}.ipynb"))
    return part


def _of_assignment(parts: list[Part], assignment: str) -> list[Part]:
    """Only the assignment's folder, where a student's folder has one for each (nbgrader's ``submitted/``)."""
    inside = [part for part in parts if len(part.path) > 1 and part.path[0].casefold() == assignment.casefold()]
    if not any(part.kind != "folder" for part in inside):
        return parts
    return [part._replace(path=part.path[1:]) for part in inside]


def _unpacked(found: Sequence[Part], parts: Parts, signatures: Signatures, said: list[str]) -> list[Part]:
    """What is in the archives of a submission, and in those that lie in them."""
    unpacked: list[Part] = []
    packed = [part for part in found if part.kind == "file" and part.name.lower().endswith(".zip")]
    opened = 0
    for _ in range(MAX_NESTED):
        inside: list[Part] = []
        for archive in packed:
            if opened == MAX_ARCHIVES:
                break
            opened += 1
            held = parts.inside(archive)
            inside += held
            senders = {
                s.user or s.who for part in held if (s := moodle(part.path[-1]) or canvas(part.name, signatures))
            }
            if len(senders) > 1:
                said.append(
                    f"{archive.shown} looks like a bulk download of {len(senders)} students; "
                    "give its own path to the grader."
                )
        unpacked += inside
        packed = [part for part in inside if part.kind == "file" and part.name.lower().endswith(".zip")]
    if packed:
        said.append(f"{packed[0].shown} lies in an archive in an archive and was not opened.")
    return unpacked


def _beside(parts: Sequence[Part], chosen: Sequence[Chosen]) -> tuple[dict[str, bytes], list[str]]:
    """The small files beside the notebooks, and a sentence on what was left out.

    Deliverables and modules come first, so that a heap of data cannot crowd them out.
    """
    folders = list(dict.fromkeys(one.part.path[:-1] for one in chosen)) or [_common_folder(parts)]
    graded, text = [one.part for one in chosen], "\n".join(one.text for one in chosen)

    def is_for_another(part: Part) -> bool:
        """A notebook is a file for one that says ``%run helpers.ipynb``."""
        return part.name.endswith(".ipynb") and part not in graded and part.name in text

    ordered = sorted(parts, key=_urgency)
    wanted = [part for part in ordered if part.kind != "folder" and (not _is_opened(part) or is_for_another(part))]
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    for part in wanted[:MAX_TRIED]:
        path = _relative(part.path, folders)
        if not path:
            left_out.append(f"{part.shown} has the name of a folder that is there too")
            continue
        if path in files:
            continue
        try:
            files[path] = _file(part, path, files)
        except CannotRead as error:
            left_out.append(f"{part.shown} {error}")
    count = len(left_out) + len(wanted[MAX_TRIED:])
    if not count:
        return files, []
    more = f"; and {count - _LISTED} more" if count > _LISTED else ""
    return files, [f"Not read: {'; '.join(left_out[:_LISTED])}{more}."]


def _file(part: Part, path: str, files: Mapping[str, bytes]) -> bytes:
    """The content of a file beside the notebook, or CannotRead: all of ``files`` can lie in one folder."""
    left = MAX_FILES_BYTES - sum(map(len, files.values()))
    if part.kind != "file":
        raise CannotRead("is a link (never followed)" if part.kind == "link" else "is no regular file")
    if path.count("/") >= MAX_DEPTH:
        raise CannotRead(f"lies more than {MAX_DEPTH} folders deep")
    if any(len(name.encode()) > MAX_NAME_BYTES for name in path.split("/")):
        raise CannotRead("has a name that is too long for a file")
    if any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in files):
        raise CannotRead("is a file and a folder at once")
    if len(files) == MAX_FILES:
        raise CannotRead(f"is one more than {MAX_FILES} files")
    data = part.read(MAX_FILE_BYTES)
    if len(data) > left:
        raise CannotRead(f"does not fit in the {MAX_FILES_BYTES >> 20} MiB that all files may have together")
    return data


def _is_opened(part: Part) -> bool:
    """Whether it is a notebook or an archive, of which the content counts and not the file."""
    return suffix_of(part.name) == ".ipynb" or (part.kind == "file" and part.name.lower().endswith(".zip"))


def _urgency(part: Part) -> tuple[int, int, tuple[str, ...]]:
    if part.name in DELIVERABLES:
        return 0, len(part.path), part.path
    return (1 if part.name.endswith(".py") else 2), len(part.path), part.path


def _relative(path: tuple[str, ...], folders: Sequence[tuple[str, ...]]) -> str:
    for folder in folders:
        if path[: len(folder)] == folder:
            return "/".join(path[len(folder) :])
    return "/".join(path)


def _common_folder(parts: Sequence[Part]) -> tuple[str, ...]:
    folders = [part.path[:-1] for part in parts if part.kind != "folder"]
    common = min(folders, default=())
    while any(folder[: len(common)] != common for folder in folders):
        common = common[:-1]
    return common


def _digest(read_files: Iterable[tuple[str, ...]], said: Sequence[str]) -> str:
    """One digest of it all, whatever the order of the files; what could not be read stands for itself."""
    return hashlib.sha256(msgspec.msgpack.encode((sorted(read_files), list(said)))).hexdigest()
