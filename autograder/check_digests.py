"""What each hidden check is made of, as one value: so that it can be told which verdicts a change can affect.

A check is its own code, the rest of its module, and every module of this project that it imports. Comments,
docstrings and the layout of the text do not count; weights, titles and points do not either, as they change no
verdict. What every check is run by (the engine, the sandbox, the reader of notebooks) is the common ground.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from autograder.checks import collect
from autograder.checks.declare import Declaration
from autograder.course import Course

#: For each function the earlier ones that it may call.
BuildsOn = Mapping[str, Sequence[str]]
#: The packages whose modules count.
PROJECT = ("autograder", "attnlab")
# What makes marks, names and pages of verdicts, and what names mistakes: no verdict depends on it.
_NO_VERDICT = (
    *("adjust", "course", "kit", "marks", "names", "policy", "published", "result", "results", "settings", "spelling"),
    *("table", "pages", "suspects"),
)
#: Right functions that stand in for a student's earlier ones; a verdict may hang on them.
_RIGHT = "autograder.suspects.right"


class Kit(msgspec.Struct, frozen=True):
    """Digests of the common ground by module, and of the checks by identifier."""

    ground: dict[str, str]
    checks: dict[str, str]


def kit(course: Course) -> Kit:
    """The checks of an assignment as they are now."""
    return Kit({**_ground(course.assignment), "limits": _hash(repr(course.limits))}, _checks(course.assignment))


def affected(before: Kit | None, now: Kit, declared: Sequence[Declaration], builds_on: BuildsOn) -> dict[str, str]:
    """The checks whose verdict may be another one than under the kit ``before``, each with the reason.

    ``builds_on``: for each function the earlier ones that it may call, as `follow_on.builds_on` gives them.
    """
    if before is None:
        return {d.id: "it is not known what it was checked by" for d in declared}
    names = before.ground.keys() | now.ground.keys()
    changed = sorted(name for name in names if now.ground.get(name) != before.ground.get(name))
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        return {d.id: f"the grader itself changed ({', '.join(changed[:3])}{more})" for d in declared}
    found = {
        d.id: "this check changed" if d.id in before.checks else "this check is new"
        for d in declared
        if before.checks.get(d.id) != now.checks[d.id]
    }
    while more_found := _following(found, declared, builds_on):
        found |= more_found
    return found


def _following(found: Mapping[str, str], declared: Sequence[Declaration], builds_on: BuildsOn) -> dict[str, str]:
    """Checks that are skipped where an affected one fails, or whose function may call one that is affected."""
    more = {}
    functions = {(d.notebook, d.function) for d in declared if d.id in found}
    for d in declared:
        needed = next((name for name in d.needs if name in found), None)
        below = next((name for name in builds_on.get(d.function, ()) if (d.notebook, name) in functions), None)
        if d.id not in found and needed:
            more[d.id] = f"it builds on {needed}, which may come out otherwise"
        elif d.id not in found and below:
            more[d.id] = f"{d.function} may use {below}, which may come out otherwise"
    return more


def to_run(chosen: Iterable[str], declared: Sequence[Declaration], builds_on: BuildsOn) -> dict[str, frozenset[str]]:
    """By notebook the functions (``task.function``) to run, so that these checks have all that they build on."""
    by_id = {d.id: d for d in declared}
    waiting, wanted = [by_id[name] for name in chosen], set[str]()
    while waiting:
        one = waiting.pop()
        if one.id in wanted:
            continue
        wanted.add(one.id)
        below = builds_on.get(one.function, ())
        waiting += [by_id[name] for name in one.needs if name in by_id]
        waiting += [
            d
            for d in declared
            if d.notebook == one.notebook and (d.function in below or (d.task, d.function) == (one.task, one.function))
        ]
    functions: dict[str, set[str]] = {}
    for name in wanted:
        functions.setdefault(by_id[name].notebook, set()).add(f"{by_id[name].task}.{by_id[name].function}")
    return {notebook: frozenset(names) for notebook, names in functions.items()}


# ---------------------------------------------------------------- digests


def _ground(assignment: str) -> dict[str, str]:
    """The modules that every verdict depends on."""
    start = ["autograder.engine", f"autograder.checks.{assignment}.carry_over", *_modules_in("autograder.sandbox")]
    start += _modules_in("attnlab")  # a submission may import any of it
    return {name: _module_hash(name) for name in sorted(_closure(start))}


def _checks(assignment: str) -> dict[str, str]:
    ground = _closure(["autograder.engine"])
    return {c.declared.id: _check_hash(c.declared, c.function, ground) for c in collect.checks(assignment)}


def _check_hash(declared: Declaration, function: Callable[..., None], ground: frozenset[str]) -> str:
    own, rest = _parts(Path(inspect.getfile(function)), ground)
    said = repr((declared.seconds, declared.measured, declared.needs))
    return _hash(f"{said}\0{own[function.__name__]}\0{rest}")


@functools.cache
def _parts(path: Path, ground: frozenset[str]) -> tuple[dict[str, str], str]:
    """Of a module of checks: each check by its name, and all that they share, with what is imported."""
    tree = _tree(path)
    own, rest = {}, []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            own[node.name] = "\0".join(map(ast.dump, [node.args, *node.body]))
        else:
            rest.append(ast.dump(node))
    imported = _closure(_imports(path, f"{_package(path)}.x")) - ground
    return own, "\0".join([*rest, *(f"{name}={_module_hash(name)}" for name in sorted(imported))])


def _closure(start: Iterable[str]) -> frozenset[str]:
    """Modules of this project that are imported from these, themselves among them, but for what changes no verdict."""
    waiting, found = list(start), set[str]()
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if name in found or path is None or not _counts(name):
            continue
        found.add(name)
        waiting += _imports(path, name)
    return frozenset(found)


def _counts(name: str) -> bool:
    package, _, rest = name.partition(".")
    if package != "autograder" or name.startswith(_RIGHT):
        return True
    return rest.partition(".")[0] not in _NO_VERDICT


@functools.cache
def _imports(path: Path, of: str) -> tuple[str, ...]:
    """The modules of this project that a file imports, and names in them that may be modules."""
    names: list[str] = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = of.split(".")[: -node.level] if node.level else []
            base = ".".join([*package, *([node.module] if node.module else [])])
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return tuple(name for name in names if name.partition(".")[0] in PROJECT)


@functools.cache
def _module_hash(name: str) -> str:
    path = _path(name)
    return _hash(ast.dump(_tree(path))) if path else ""


@functools.cache
def _path(name: str) -> Path | None:
    """The file of a module; None where there is none of this name (it may be a function's)."""
    package, *rest = name.split(".")
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder).joinpath(*rest)
        for file in (path.with_suffix(".py") if rest else path / "__init__.py", path / "__init__.py"):
            if file.is_file():
                return file
    return None


def _modules_in(package: str) -> list[str]:
    path = _path(package)
    if path is None:
        return []
    files = sorted(path.parent.rglob("*.py"))
    names = [".".join([package, *file.relative_to(path.parent).with_suffix("").parts]) for file in files]
    return [name.removesuffix(".__init__") for name in names]


def _package(path: Path) -> str:
    """The dotted name of the folder of a module of the grader."""
    root = _path("autograder")
    assert root is not None
    return ".".join(["autograder", *path.parent.relative_to(root.parent).parts])


@functools.cache
def _tree(path: Path) -> ast.Module:
    """A module without its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:]
    return tree


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
