"""Does anything that is handed out hold a line of a solution, of a hidden check or of the reference?

Both sides are turned into *prints*: what is left of a statement or a line when comments, white space, line
breaks and the kind of quotes are gone. So a solution that was only laid out anew is still found. What a
skeleton shows is no secret, and a print too short to tell anything is not one either.
"""

from __future__ import annotations

import ast
import copy
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from autograder.release import skeleton
from autograder.release.masters import Master
from autograder.release.problem import Problem

#: A print shorter than this ("returnfloat(gap)") is an idiom that two people write independently.
SHORTEST_PRINT = 20
#: One line of a solution is a leak. Of a hidden check or of the reference it takes this many of one file: one
#: alone ("with np.errstate(…):", the names of the seven stages) may well stand in public code too.
FEWEST_LINES = 3
#: Numbers that the chapter prints and the student package holds for everybody.
PUBLIC = ("assignments/attnlab/chapter.py",)
#: Archives within archives within …; more than this is not something that we build.
DEEPEST_ARCHIVE = 5
#: What can be read as text; anything else that is no archive or picture is refused.
TEXTS = {".cfg", ".css", ".csv", ".html", ".in", ".ini", ".js", ".json", ".md", ".py", ".pyi", ".rst", ".sh"}
TEXTS |= {".svg", ".toml", ".txt", ".typed", ".yaml", ".yml", ""}
ARCHIVES = {".egg", ".gz", ".tar", ".tgz", ".whl", ".zip"}
PICTURES = {".jpeg", ".jpg", ".png"}

#: Lines that name things and do nothing; a skeleton, a check and a toy model all follow the same contract.
_NAMES = re.compile(r"(from|import|def|class)\b|@")


class Unsearchable(Exception):
    """A file whose content cannot be shown to be clean."""


@dataclass(frozen=True)
class Secret:
    """What a print gives away, and how many prints of it in one file say that it is there."""

    source: str
    fewest: int


def secrets(root: Path, assignment: str, masters: Iterable[Master]) -> dict[str, Secret]:
    """Every print that must not be handed out, with what it comes from.

    A notebook with nothing to solve is no skeleton: what it shows is looked through like any other file.
    """
    public = {text for file in PUBLIC for text in prints(Path(root, file).read_text(encoding="utf-8"))}
    found: dict[str, Secret] = {}
    for master in (master for master in masters if master.regions()):
        for index, cell in enumerate(master.notebook.cells):
            public |= prints(skeleton.skeleton(cell.source))
            for region in skeleton.regions(cell.source):
                secret = Secret(f"the solution in {master.where(index, region.start)}", 1)
                found |= dict.fromkeys(prints("\n".join(region.solution)), secret)
    for folder in (f"autograder/checks/{assignment}", "autograder/reference"):
        for path in sorted(Path(root, folder).rglob("*.py")):
            secret = Secret(path.relative_to(root).as_posix(), FEWEST_LINES)
            found |= {text: secret for text in prints(path.read_text(encoding="utf-8")) if text not in found}
    seen = "\n".join(public)
    return {text: secret for text, secret in found.items() if text not in seen}


def leaks(tree: Mapping[str, bytes], secret: Mapping[str, Secret]) -> list[Problem]:
    """One problem for each handed-out file and source that it gives away, with one telling line."""
    found: dict[tuple[str, Secret], set[str]] = {}
    unsearchable: list[Problem] = []
    for path, content in sorted(tree.items()):
        try:
            for where, text in texts(path, content):
                whole = _squeezed(text)
                given = prints(text) & secret.keys()
                # Within a sentence, a comment or a longer line a solution is one too.
                given |= {line for line, of in secret.items() if of.fewest == 1 and line in whole}
                for line in given:
                    found.setdefault((where, secret[line]), set()).add(line)
        except Unsearchable as error:
            remedy = "Take it out: only what can be searched is handed out."
            unsearchable.append(Problem(path, f"{error} cannot be searched for solutions.", remedy))
    told = [
        Problem(
            where,
            f"It gives away {given.source}: {max(lines, key=len)[:80]!r} (white space removed).",
            "Take it out; if students may know it, move it out of the solution region of the master.",
        )
        for (where, given), lines in found.items()
        if len(lines) >= given.fewest
    ]
    return unsearchable + told


def prints(text: str) -> set[str]:
    """The prints of a text: of its lines, and, if it is Python, of its statements and of texts within it."""
    found = {_bare(line) for line in text.splitlines()}
    try:  # a region of a function's body is indented, and a text in it may not be
        tree = ast.parse(f"if True:\n{text}" if text[:1].isspace() else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not _is_docstring(node):
            found.add(_bare(_own_text(node)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            found |= {_bare(line) for line in node.value.splitlines()}
    return {line for line in found if len(line) >= SHORTEST_PRINT}


def _bare(line: str) -> str:
    line = re.sub(r"(^|\s)#.*$", "", line.strip())
    return "" if _NAMES.match(line) else _squeezed(line).rstrip(",")


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace('"', "'")


def _own_text(node: ast.stmt) -> str:
    """A statement without the statements inside it: of a loop or a function, its first line."""
    if not hasattr(node, "body"):
        return ast.unparse(node)
    bare = copy.copy(node)
    for block in ("body", "orelse", "finalbody", "handlers", "cases", "decorator_list"):
        if hasattr(bare, block):
            setattr(bare, block, [ast.Pass()] if block == "body" else [])
    try:
        return ast.unparse(bare).splitlines()[0]
    except (AttributeError, IndexError, ValueError):
        return ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def texts(path: str, content: bytes, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Every text in a file with where it is; archives and notebooks are opened. Raises ``Unsearchable``."""
    suffix = PurePosixPath(path).suffix.lower()
    if depth > DEEPEST_ARCHIVE:
        raise Unsearchable("An archive within too many archives")
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for entry in archive.infolist():
                yield from texts(f"{path}/{entry.filename}", archive.read(entry), depth + 1)
    elif suffix in ARCHIVES:
        yield from _from_tar(path, content, depth)
    elif suffix in PICTURES:
        return
    elif suffix == ".ipynb" or suffix == ".json":
        try:
            yield from ((path, text) for text in _strings(json.loads(content.decode("utf-8"))))
        except ValueError:
            raise Unsearchable("It is not JSON, and") from None
    elif suffix in TEXTS or ".dist-info/" in path:
        try:
            yield path, content.decode("utf-8")
        except UnicodeDecodeError:
            raise Unsearchable("It is not UTF-8, and") from None
    else:
        raise Unsearchable(f"A file of the kind {suffix!r}")


def _from_tar(path: str, content: bytes, depth: int) -> Iterator[tuple[str, str]]:
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                if not member.isfile():
                    continue
                stream = archive.extractfile(member)
                yield from texts(f"{path}/{member.name}", stream.read() if stream else b"", depth + 1)
    except tarfile.TarError:
        raise Unsearchable("An archive that cannot be opened") from None


def _strings(value: object) -> Iterator[str]:
    """Every string in decoded JSON; a list of strings (how a notebook stores a cell) is one text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            for item in value:
                yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
