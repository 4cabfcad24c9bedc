"""Named mistakes of the exercises: each loses marks in its exercise and is named, whoever wrote it."""

from __future__ import annotations

import re

from autograder.suspects import all_suspects
from tests.filled_in import EXERCISES

KNOWN = {suspect.id: suspect for suspect in all_suspects(EXERCISES.name)}


def test_hints_are_one_kind_sentence_without_code_and_send_to_a_section() -> None:
    sections = {"7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.13"}
    code = re.compile(r"[`=@*\[\]_]|\bnp\b|\w\(|\d{2,}|None")
    unkind = re.compile(r"\b(failed|stupid|obviously|simply|just)\b", re.IGNORECASE)
    for suspect in KNOWN.values():
        hint, (section, _, part) = suspect.hint, suspect.read.partition(", ")
        assert hint[0].isupper() and hint.endswith(".") and ". " not in hint, hint
        assert 30 <= len(hint) <= 170, hint
        assert not code.search(hint) and not unkind.search(hint), hint
        assert section in sections and part, suspect.read


def test_a_mapping_is_not_called_a_single_number() -> None:
    source = """
def in_units(n_bytes):
    return dict(GB=n_bytes / 1e9, GiB=n_bytes / 1024**3)
"""
    assert EXERCISES.named("in_units", source) == "units_in_a_mapping"


def test_a_slip_in_the_spread_is_not_called_a_mistake_about_positions() -> None:
    source = """
def offset_spread(score, offset, starts):
    found = [score(start + offset, start) for start in begins]
    return max(found) - min(found)
"""
    assert EXERCISES.named("offset_spread", source) is None


def test_mistakes_are_filed_under_exercises_and_have_names_of_their_own() -> None:
    assert len(KNOWN) == len(all_suspects(EXERCISES.name)) > 150
    assert {suspect.task for suspect in KNOWN.values()} == {f"exercise{number}" for number in range(2, 12)}
    elsewhere = {s.id: s.function for s in all_suspects()}
    assert {elsewhere[name] for name in elsewhere.keys() & KNOWN.keys()} <= {"kv_cache_bytes"}
