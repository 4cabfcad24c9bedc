"""One zip to hand in: ``pack()`` in a notebook, ``attnlab pack`` in a terminal.

In it are the lab's notebooks as they are saved, the measurements, plots and note, the student's own modules that
they import, and a receipt: what was packed, under which hashes, and what the public checks said about it. The
receipt is for the student; no mark is taken from it.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import secrets
import time
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from attnlab import __version__, saved
from attnlab.checking import caller_namespace
from attnlab.file_check import Checked, check_file
from attnlab.files import LARGEST, Unreadable, cells
from attnlab.look import framed, heading, prose, say
from attnlab.record import HIDDEN_NOTE
from attnlab.run_file import without_magics
from attnlab.saved import Saved
from attnlab.step import ASSIGNMENTS, KINDS, LAB, assignment_of
from attnlab.steps import NOTEBOOKS
from attnlab.words import clean, names

SCHEMA = "attnlab-receipt/1"
ARCHIVE = "{assignment}-submission.zip"
RECEIPT = "receipt.json"
#: What the lab's cells write beside the notebook, and the step that does.
DELIVERABLES = {
    "scaling.png": "step 5",
    "kv_latency.png": "step 8",
    "measurements.json": "the end of the lab",
    "note.md": "the end of the lab",
}
#: Bytes of a plot, a note or a module of one's own; the lab's own have less than one MiB.
LARGEST_EXTRA = 16 * 2**20
#: Seconds for the checks of one file.
SECONDS = 120.0
#: Times of files in the zip: the same files give the same zip, but for the receipt.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Packed:
    """What became of a call: the zip with its receipt, or, where ``archive`` is None, why there is none."""

    archive: Path | None
    receipt: Mapping[str, Any]
    sentences: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [self._headline(), *(f"  {sentence}" for sentence in self.sentences)]
        for file in self.receipt.get("files", ()):
            lines.append(f"  {file['name']:<24} {file['bytes']:>10,} bytes  {file['sha256'][:16]}")
        lines += [f"  {line}" for line in self._checked()]
        return "\n".join([*lines, *self._last()])

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._html(), "text/plain": str(self)}

    def shown(self) -> Packed:
        """This; printed first where nothing else will show it."""
        say(self)
        return self

    def _headline(self) -> str:
        if self.archive is None:
            return "✗ Not packed"
        return f"✓ Packed: {clean(self.archive.name)}, {self.archive.stat().st_size:,} bytes"

    def _checked(self) -> list[str]:
        lines = []
        for one in self.receipt.get("checks", ()):
            steps = [step for step in one["steps"] if step["of"]]
            held = sum(step["held"] == step["of"] for step in steps)
            kind = KINDS[one["notebook"]].lower()
            lines.append(f"{one['file']}: {held} of {len(steps)} {kind}s pass all their public checks.")
            lines += one["problems"]
        return lines

    def _last(self) -> list[str]:
        if self.archive is None:
            return []
        return [f"Receipt: {self.receipt['content_sha256'][:16]}, made {self.receipt['made']}.", "", HIDDEN_NOTE]

    def _html(self) -> str:
        rows = "".join(
            f'<tr><th scope="row"><code>{escape(file["name"])}</code></th>'
            f'<td>{file["bytes"]:,} bytes</td><td><code>{file["sha256"][:16]}</code></td></tr>'
            for file in self.receipt.get("files", ())
        )
        columns = "".join(f'<th scope="col">{name}</th>' for name in ("File", "Size", "SHA-256 begins"))
        table = f"<table><thead><tr>{columns}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
        said = [f"<p>{prose(sentence)}</p>" for sentence in self.sentences]
        checked = [f"<p>{prose(line)}</p>" for line in self._checked()]
        notes = [f'<p class="note">{prose(line)}</p>' for line in self._last() if line]
        return framed("Packing", "".join([heading(escape(self._headline())), *said, table, *checked, *notes]))


def pack(to: str | os.PathLike[str] | None = None, *, unsaved: bool = False) -> Packed | None:
    """Put everything that is to be handed in into one zip, from the folder of the notebook, and say what is in it.

    ``to`` is the zip, by default named after the assignment. What counts is what is saved. Where a cell that was run
    differs from the saved file, nothing is packed and the panel says so; ``unsaved=True`` packs all the same. None
    while the lab is only loaded, as for ``check``.
    """
    bound = caller_namespace()
    if bound is None:
        return None
    return pack_folder(Path(), Path(to) if to else None, bound, unsaved=unsaved).shown()


def pack_folder(
    folder: Path,
    to: Path | None = None,
    bound: Mapping[str, object] | None = None,
    *,
    unsaved: bool = False,
    seconds: float = SECONDS,
) -> Packed:
    """Pack the lab's files in ``folder``. ``bound``: what a notebook has in memory; ``to`` is seen from the folder."""
    try:
        everything = saved.beside(folder)
        own = saved.called_from(folder, bound) if bound else None
    except Unreadable as problem:
        return Packed(None, {}, (f"Nothing was packed: {problem}",))
    if own is not None and own.written:  # its twin may have more in it, and is not what runs here
        everything[own.notebook] = own
    if not everything:
        wanted = names([f"{name}.ipynb" for name in ASSIGNMENTS["lab07"]])
        said = f"There is no notebook of the lab in {clean(folder.resolve())}; it should have {wanted}."
        return Packed(None, {}, (said,))
    here = saved.current_notebook(bound) if bound else ""
    assignment = assignment_of(here if here in everything else next(iter(everything)))
    found = {name: one for name, one in everything.items() if name in ASSIGNMENTS[assignment]}
    archive = folder / (to or ARCHIVE.format(assignment=assignment))
    refused = _refused(archive)
    if refused:
        return Packed(None, {}, (refused,))
    run = own or found.get(here)
    differ = saved.not_saved(bound, run) if bound and run and not unsaved else []
    if run and differ:
        return Packed(None, {}, (_save_first(run, differ),))
    try:
        files, left_out = _collected(folder, found)
        checks = [_checks(one, seconds) for one in found.values()]
        receipt = _receipt(files, checks)
        _write(archive, {**files, RECEIPT: json.dumps(receipt, ensure_ascii=False, indent=1).encode() + b"\n"})
    except Unreadable as problem:
        return Packed(None, {}, (f"Nothing was packed: {problem}",))
    except OSError as error:
        return Packed(None, {}, (_not_written(error),))
    return Packed(archive, receipt, (*_as_saved(found), *_twins(found), *left_out))


def _refused(archive: Path) -> str:
    """Why no zip is written there, where that would take another file's place; empty where it may be."""
    name = clean(archive.name) or "."
    if archive.suffix.lower() != ".zip":
        return f"{name} is not the name of a zip; leave it out, or give one that ends in .zip."
    try:
        with zipfile.ZipFile(archive) as before:
            ours = RECEIPT in before.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        ours = False
    except OSError:  # there is none, or else writing it says why not
        return ""
    return "" if ours else f"{name} is there already, and was not packed by this; give the zip another name."


def _not_written(error: OSError) -> str:
    name = f" ({clean(Path(str(error.filename)).name)})" if error.filename else ""
    # On Windows nobody else may write to a file, or replace it, while a program has it open.
    closed = " Close programs that have the file open, and try again." if isinstance(error, PermissionError) else ""
    return f"Nothing was packed{name}: {clean(error.strerror or error).rstrip('.')}.{closed}"


def _twins(found: Mapping[str, Saved]) -> list[str]:
    """Which file of a notebook that lies there as .ipynb and as .py was left out, and why."""
    said = []
    for one in found.values():
        twin = one.path.with_suffix(".py" if one.path.suffix == ".ipynb" else ".ipynb")
        if not twin.is_file() or twin.is_symlink():
            continue
        why = f"{clean(one.path.name)} has as much or more in it."
        try:
            if len(saved.read(twin).written) > len(one.written):  # only the caller's own file goes before more
                why = f"you called `pack()` in {clean(one.path.name)}. To pack the other: `attnlab pack` in a terminal."
        except Unreadable as problem:
            why = str(problem)
        said.append(f"{clean(twin.name)} was left out: {why}")
    return said


def _save_first(here: Saved, differ: list[str]) -> str:
    more = [f"{len(differ) - 4} more"] if len(differ) > 4 else []
    listed = names([*(f"`{name}`" for name in differ[:4]), *more])
    return (
        f"{clean(here.path.name)} on the disk is not what you ran: {listed} "
        f"{'differs' if len(differ) == 1 else 'differ'}. Save the notebook (Ctrl+S, or ⌘S), and run this cell again. "
        "If you changed a cell and did not run it, run it first. "
        "`pack(unsaved=True)` packs what is on the disk all the same."
    )


def _as_saved(found: Mapping[str, Saved]) -> list[str]:
    """When each file was saved: the one thing about an unsaved notebook that can always be said."""
    now, said = time.time(), []
    for one in found.values():
        minutes = max(0, round((now - one.path.stat().st_mtime) / 60))
        ago = f"{minutes // 60} hours ago" if minutes >= 120 else f"{minutes} minutes ago" if minutes else "just now"
        said.append(f"{clean(one.path.name)}, as it was saved {ago}.")
    return said


def _collected(folder: Path, found: Mapping[str, Saved]) -> tuple[dict[str, bytes], list[str]]:
    """The files of the zip by name, and sentences on what is missing or left out."""
    files = {one.path.name: _content(one.path, LARGEST) for one in found.values()}
    said = []
    for name, where in DELIVERABLES.items() if LAB in found else ():
        path = folder / name
        if path.is_symlink():
            said.append(f"{name} is a link to another file, and links are not packed; put the file itself there.")
        elif not path.is_file():
            said.append(f"{name} is not there; {where} writes it.")
        elif path.stat().st_size > LARGEST_EXTRA:
            said.append(f"{name} is larger than {LARGEST_EXTRA // 2**20} MiB, and was left out.")
        else:
            files[name] = _content(path, LARGEST_EXTRA)
    files |= _modules(folder, [cell.source for one in found.values() for cell in cells(one.path)])
    return files, said


def _modules(folder: Path, sources: Iterable[str]) -> dict[str, bytes]:
    """The student's own modules in the folder that the sources import, and those that these import."""
    files: dict[str, bytes] = {}
    left = list(sources)
    while left:
        for module in _imported(left.pop()):
            path = folder / f"{module}.py"
            own = module not in NOTEBOOKS and path.is_file() and not path.is_symlink()
            if own and path.name not in files and path.stat().st_size <= LARGEST_EXTRA:
                files[path.name] = _content(path, LARGEST_EXTRA)
                left.append(files[path.name].decode("utf-8", "replace"))
    return files


def _imported(source: str) -> set[str]:
    try:
        tree = ast.parse(without_magics(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


def _content(path: Path, most: int) -> bytes:
    """A file's bytes; a link is never followed, nor is more read than its size was."""
    if path.is_symlink():
        raise Unreadable(f"{clean(path.name)} is a link to another file, and links are not packed.")
    with path.open("rb") as file:
        return file.read(most)


def _checks(one: Saved, seconds: float) -> dict[str, Any]:
    try:
        checked = check_file(one.path, NOTEBOOKS[one.notebook], seconds)
    except Unreadable as problem:
        checked = Checked(clean(one.path.name), [str(problem)])
    steps = [
        {"step": report.step, "held": report.held, "of": len(report.outcomes), "said": report.summary()}
        for report in checked.reports
    ]
    return {"notebook": one.notebook, "file": one.path.name, "problems": checked.problems, "steps": steps}


def _receipt(files: Mapping[str, bytes], checks: list[dict[str, Any]]) -> dict[str, Any]:
    listed = [
        {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in sorted(files.items())
    ]
    # The text that `sha256sum` prints for these files, so that anybody can make this hash again.
    whole = "".join(f"{file['sha256']}  {file['name']}\n" for file in listed)
    return {
        "schema": SCHEMA,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "attnlab": __version__,
        "content_sha256": hashlib.sha256(whole.encode()).hexdigest(),
        "files": listed,
        "checks": checks,
        "note": f"Made by the student's own copy of attnlab; no mark is taken from it. {HIDDEN_NOTE}",
    }


def _write(archive: Path, files: Mapping[str, bytes]) -> None:
    """The zip, whole or not at all."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in sorted(files.items()):
            about = zipfile.ZipInfo(name, _NO_TIME)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            stream.writestr(about, content)
    draft = archive.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        draft.write_bytes(packed.getvalue())
        draft.replace(archive)
    except OSError as error:  # of the zip, and not of a draft that nobody knows
        raise OSError(error.errno, error.strerror, str(archive)) from None
    finally:
        draft.unlink(missing_ok=True)
