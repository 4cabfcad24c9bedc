"""What the list of named mistakes promises: names, hints, places to read, and texts that stand on their own."""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections import Counter

import pytest

from autograder import course
from autograder.suspects import all_suspects, suspects_of
from autograder.suspects import right as right_code
from autograder.suspects.match import submission_with
from autograder.suspects.probes import PROBES
from autograder.suspects.registry import same_mistake, suspect

#: Sections of the chapter that a hint may send a student to.
SECTIONS = {"7.1", "7.2", "7.3", "7.4", "7.6", "7.9"}
OF_EACH_FUNCTION = pytest.mark.parametrize("function", list(PROBES))


def test_every_function_that_earns_points_has_suspects_and_probes() -> None:
    points = course.load("lab07").parts["attention_lab"].points
    # The exponent of a student's attention is measured, and no question can be asked about it.
    functions = {key.partition(".")[2] for key in points} - {"measured_exponent"}
    assert functions <= set(PROBES)
    assert all(len(suspects_of(function)) >= 10 for function in functions)


def test_suspects_are_filed_under_the_step_that_their_function_earns_points_in() -> None:
    points = course.load("lab07").parts["attention_lab"].points
    assert {f"{s.task}.{s.function}" for s in all_suspects()} <= set(points)


def test_there_are_hundreds_and_no_two_share_a_name() -> None:
    names = Counter(s.id for s in all_suspects())
    assert len(names) == len(all_suspects()) > 400
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+", name) for name in names)


def test_no_two_texts_are_the_same() -> None:
    texts = Counter((s.function, source) for s in all_suspects() for source in s.sources)
    assert [text for text, times in texts.items() if times > 1] == []


@OF_EACH_FUNCTION
def test_a_hint_is_one_kind_sentence_without_code(function: str) -> None:
    code = re.compile(r"[`=@*\[\]_]|\bnp\b|\w\(|\d{2,}|None")
    unkind = re.compile(r"\b(failed|stupid|obviously|simply|just)\b", re.IGNORECASE)
    for hint in (s.hint for s in suspects_of(function)):
        assert hint[0].isupper() and hint.endswith(".") and ". " not in hint, hint
        assert 30 <= len(hint) <= 170, hint
        assert not code.search(hint) and not unkind.search(hint), hint


@OF_EACH_FUNCTION
def test_a_place_to_read_is_a_section_of_the_chapter_and_a_part_of_it(function: str) -> None:
    for section, _, part in (s.read.partition(", ") for s in suspects_of(function)):
        assert section in SECTIONS and part


@OF_EACH_FUNCTION
def test_a_text_stands_on_its_own(function: str) -> None:
    known = {name for name in vars(right_code) if not name.startswith("__")} | set(dir(builtins))
    for source in (source for s in suspects_of(function) for source in s.sources):
        (statement,) = ast.parse(source).body
        assert isinstance(statement, (ast.FunctionDef, ast.ClassDef))
        assert statement.name == function
        assert statement.decorator_list == []
        assert globals_of(symtable.symtable(source, "<suspect>", "exec")) - {function} <= known
        assert function in submission_with(source)


def globals_of(table: symtable.SymbolTable) -> set[str]:
    """Every name that a text takes from around it."""
    own = {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    return own.union(*map(globals_of, table.get_children()))


def test_a_name_cannot_be_given_twice() -> None:
    taken = all_suspects()[0].id
    with pytest.raises(ValueError, match="two suspects"):
        suspect(taken, task="step1", hint="", read="")(test_a_name_cannot_be_given_twice)


def test_another_text_of_a_mistake_must_be_of_its_function() -> None:
    with pytest.raises(ValueError, match="mistake of softmax"):
        same_mistake("softmax_global_max")(test_a_name_cannot_be_given_twice)
