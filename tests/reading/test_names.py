"""A name that a student chose steers no terminal, meets no other file, and is never lost."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.names import STEM_BYTES, display_name, result_file_stem, same_file, valid_unicode


def test_an_ordinary_name_stays_as_it_is() -> None:
    for name in ("ayse", "Ayşe Yılmaz", "名前", "smith-john_2", "submission_123"):
        assert result_file_stem(name) == display_name(name) == valid_unicode(name) == name


def test_bytes_that_are_no_utf8_become_visible() -> None:
    assert valid_unicode(b"ay\xff\xfee") == r"ay\xff\xfee"
    assert valid_unicode("ay\udcff\udcfee") == r"ay\xff\xfee"
    assert valid_unicode("half \ud83d") == r"half \ud83d"


@pytest.mark.parametrize("hidden", ["\x1b[2J", "\u202e", "\u2066", "\u200b", "\r", "\x9b", "\u2028", "\ue000", "\0"])
def test_what_a_terminal_would_obey_or_hide_is_spelled_out(hidden: str) -> None:
    assert hidden[0] not in display_name(f"a{hidden}b")
    assert "\\" in display_name(f"a{hidden}b")


def test_a_name_of_kilobytes_takes_one_line() -> None:
    assert len(display_name("x" * 10_000)) <= 120


@pytest.mark.parametrize(
    "name",
    [
        "con",
        "NUL",
        "Com1.txt",
        "lpt¹",
        "aux.json",
        "",
        ".",
        "..",
        "-rf",
        " x ",
        "a/b",
        "a\\b",
        "~",
        "x.",
        "*",
    ],
)
def test_names_that_a_system_takes_otherwise_are_changed(name: str) -> None:
    stem = result_file_stem(name)
    assert stem != name
    assert stem.split(".")[0].lower() not in {"con", "nul", "com1", "lpt¹", "aux", ""}


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(), max_size=8, unique=True))
def test_every_name_finds_a_safe_file_of_its_own(names: list[str]) -> None:
    stems: list[str] = []
    for name in names:
        stems.append(result_file_stem(name, {same_file(stem) for stem in stems}))
    for stem in stems:
        assert len(stem.encode()) <= STEM_BYTES
        assert not set(stem) & set('/\\<>:"|?*\0\n\r\t')
        assert stem.strip(" .") == stem != ""
        assert not stem.startswith("-")
    assert len({unicodedata.normalize("NFD", stem).casefold() for stem in stems}) == len(names)


def test_names_that_differ_only_in_case_or_composition_get_two_files() -> None:
    first = result_file_stem("Ayşe")
    for other in ("AYŞE", "ayşe", unicodedata.normalize("NFD", "Ayşe")):
        assert result_file_stem(other, {same_file(first)}).casefold() != first.casefold()


def test_a_changed_name_finds_its_file_again() -> None:
    name = "a/b" + "Ä" * 300
    assert result_file_stem(name, {"other"}) == result_file_stem(name)
    assert result_file_stem("a_b") != result_file_stem("a/b")
