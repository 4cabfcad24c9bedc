"""A Python file to pieces that run one by one, so that one broken statement does not cost the others.

A file in percent format (``# %%`` lines, as Jupytext, VS Code and Spyder write them) is cut at its marks. Any
other file is cut into its top-level statements. That is done with tokens, not with the compiler: tokens know
where a statement ends even where it is no valid Python, and the compiler may not be fed hostile text in a
process that must stay alive. A magic that an editor commented out (``# %matplotlib inline``) stays a comment:
nothing that is graded depends on one.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from typing import Literal, NamedTuple

_MARK = re.compile(r"#[ \t]?%%(?:[ \t]+(?P<rest>.*))?$")
_TEXT_KIND = re.compile(r"\[(markdown|md|raw)\]", re.IGNORECASE)
_GRADE_ID = re.compile(r'"grade_id"\s*:\s*"([^"\\]{1,200})"')
#: Where the tokens give up (a bracket or a quote that is never closed), a line like this begins a new piece.
_BEGINS = re.compile(r"(?!(?:else|elif|except|finally)\b)[^\W\d]|[@%!]")
_CONTINUES = ("else", "elif", "except", "finally")

#: Characters of a plain module that are cut by tokens (about a second each million).
MAX_TOKENIZED = 2_000_000
#: Tokens of one logical line, and characters of one statement, that are tried for syntax: Python's parser is
#: not made for endlessly nested ones.
MAX_TRIED_TOKENS = 2_000
MAX_TRIED_CHARACTERS = 100_000


class Piece(NamedTuple):
    """A part of the file: ``label`` says where, ``grade_id`` is nbgrader's, or ''."""

    kind: Literal["code", "markdown", "raw"]
    source: str
    label: str
    grade_id: str = ""


def pieces(text: str) -> tuple[list[Piece], str | None]:
    """The file's parts in order, and a sentence about the first place that is not valid Python."""
    lines = text.split("\n")  # not splitlines: a form feed or U+2028 ends no line for Python
    marks = [number for number, line in enumerate(lines) if _MARK.match(line)]
    if marks:
        return [piece for piece in _marked(lines, marks) if piece.source.strip()], None
    extents, broken = _statements(text, lines)
    trouble = None
    found = []
    for first, last, tokens in extents:
        source = "\n".join(lines[first - 1 : last])
        if not source.strip():
            continue
        found.append(Piece("code", source, _label(first, last)))
        if trouble is None and tokens <= MAX_TRIED_TOKENS and len(source) <= MAX_TRIED_CHARACTERS:
            trouble = _syntax_error(source, first)
    if trouble is None and broken is not None:
        trouble = (
            f"from line {broken} on it cannot be told where a statement ends (a bracket or a quotation mark "
            "that is never closed?); what begins at the left margin after that was read piece by piece."
        )
    return found, trouble


def _marked(lines: list[str], marks: list[int]) -> list[Piece]:
    """The cells of a percent-format file; what stands above the first mark is a code cell."""
    found = []
    for mark, end in zip([-1, *marks], [*marks, len(lines)], strict=True):
        head = _MARK.match(lines[mark]) if mark >= 0 else None
        rest = (head and head["rest"]) or ""
        body = lines[mark + 1 : end]
        while body and not body[-1].strip():
            body.pop()
        label = _label(mark + 2, mark + 1 + len(body))
        grade_id = _GRADE_ID.search(rest)
        kind = _TEXT_KIND.search(rest)
        if kind:
            name: Literal["markdown", "raw"] = "raw" if kind[1].lower() == "raw" else "markdown"
            found.append(Piece(name, _uncommented(body), label, grade_id[1] if grade_id else ""))
        elif any(line.strip() and not line.lstrip().startswith("#") for line in body) or grade_id:
            found.append(Piece("code", "\n".join(body), label, grade_id[1] if grade_id else ""))
    return found


def _label(first: int, last: int) -> str:
    return f"lines {first}-{last}" if last > first else f"line {first}"


def _uncommented(body: list[str]) -> str:
    """The text of a Markdown cell: commented lines, or one string in triple quotes."""
    text = "\n".join(body).strip()
    for quotes in ('"""', "'''"):
        if text.startswith(quotes) and text.endswith(quotes) and len(text) >= 6:
            return text[3:-3].strip("\n")
    return "\n".join(re.sub(r"^[ \t]*# ?", "", line) for line in body)


def _statements(text: str, lines: list[str]) -> tuple[list[tuple[int, int, int]], int | None]:
    """First line, last line and tokens of the longest logical line of every top-level statement; and the line
    from which on this is a guess, or None.
    """
    found: list[tuple[int, int, int]] = []
    tokens, depth, at_start, decorated = 0, 0, True, False
    if len(text) > MAX_TOKENIZED:
        return _at_the_margin(lines, 1), None
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER):
                continue
            if token.type in (tokenize.INDENT, tokenize.DEDENT):
                depth += 1 if token.type == tokenize.INDENT else -1
                continue
            if at_start and (depth == 0 or not found):
                if not (found and (decorated or token.string in _CONTINUES)):
                    found.append((token.start[0], token.start[0], 0))
                decorated = token.string == "@"
            tokens = 1 if at_start else tokens + 1
            at_start = token.type == tokenize.NEWLINE
            if at_start:
                found[-1] = (found[-1][0], token.start[0], max(found[-1][2], tokens))
    except (tokenize.TokenError, SyntaxError, ValueError, RecursionError):
        start = 1
        if found:
            start = found[-1][1] + 1 if at_start and depth == 0 else found.pop()[0]
        return found + _at_the_margin(lines, start), start
    return found, None


def _at_the_margin(lines: list[str], start: int) -> list[tuple[int, int, int]]:
    """Statements by a look at the left margin alone; how deep they are nested is not known."""
    begins, decorated = [start], False
    for number, line in enumerate(lines[start - 1 :], start):
        if _BEGINS.match(line):
            if not decorated and number > start:
                begins.append(number)
            decorated = line.startswith("@")
    return [
        (first, following - 1, MAX_TRIED_TOKENS + 1)
        for first, following in zip(begins, [*begins[1:], len(lines) + 1], strict=True)
    ]


def _syntax_error(source: str, first: int) -> str | None:
    """Where and how one statement is not valid Python, or None. IPython's own syntax is not judged."""
    if source.startswith(("%", "!", "?")) or source.rstrip().endswith("?"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except SyntaxError as error:
        line = first - 1 + (error.lineno or 1)
        return f"line {line} is not valid Python ({error.msg}); its statement cannot run, the others can."
    except (ValueError, RecursionError, MemoryError):
        return f"the statement at line {first} cannot be compiled; the others can."
    return None
