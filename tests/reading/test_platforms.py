"""What each platform's bulk download says beside the files: who it was, whether late, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from autograder.conventions import canvas, timestamp
from autograder.discover import discover
from autograder.gradescope_export import read_metadata
from autograder.result import Student

Notebook = Callable[..., bytes]
Archive = Callable[[Mapping[str, bytes]], bytes]
Folder = Callable[[Mapping[str, bytes]], Path]
Signatures = dict[str, set[str]]

METADATA = """
submission_11:
  :submitters:
  - :name: "=Ömer Ç., \\u202eé"
    :sid: 00123
    :email: o@x.org
  :created_at: 2026-11-13 20:59:00.123456789 Z
  :score: 3.0
  :status: processed
  :results:
    tests:
    - name: x
      score: 1
  :history:
  - :created_at: !ruby/object:ActiveSupport::TimeWithZone 2026-11-12 20:59:00 Z
    :score: 1.0
submission_12:
  :submitters:
  - :name: Pair One
    :sid: '200'
    :email: one@x.org
  - :name: Pair Two
    :sid: '201'
    :email: null
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: 2026-11-14 01:00:00 Z
submission_13:
  :submitters: []
submission_14:
  :submitters:
  - :name: Nothing There
    :sid:
"""


@pytest.mark.parametrize(
    ("name", "who", "user", "late"),
    [
        ("smithjohn_1001_2001_attention_lab.ipynb", "smithjohn", "1001", False),
        ("smithjohn_LATE_1001_2001_attention_lab.ipynb", "smithjohn", "1001", True),
        ("smithjohn_late_1001_2001_attention_lab.ipynb", "smithjohn", "1001", True),
        ("LATE_anon_b4K2d_2001_attention_lab.ipynb", "anon", "b4K2d", True),
        ("anon_LATE_b4K2d_2001_attention_lab.ipynb", "anon", "b4K2d", True),
        ("anon_b4K2d_2001_attention_lab.ipynb", "anon", "b4K2d", False),
        ("çömer_LATE_7_link.html", "çömer", "7", True),
        ("بنسالمم_7_9_lab 1 (2).ipynb", "بنسالمم", "7", False),
        ("team_7_12_34_my_file_1.ipynb", "team", "7", False),
    ],
)
def test_a_name_of_canvas_says_who_and_whether_late(
    signatures: Signatures, name: str, who: str, user: str, late: bool
) -> None:
    sender = canvas(name, signatures)
    assert sender is not None
    assert (sender.who, sender.user, sender.late, sender.platform) == (who, user, late, "canvas")


@pytest.mark.parametrize("packed", [True, False], ids=["zip", "unpacked"])
def test_gradescopes_list_says_who_in_every_row_and_nobody_is_lost(
    folder: Folder, archive: Archive, notebook: Notebook, signatures: Signatures, packed: bool
) -> None:
    files = {
        "assignment_9_export/submission_metadata.yml": METADATA.encode(),
        **{f"assignment_9_export/submission_{n}/attention_lab.ipynb": notebook() for n in (11, 12, 13, 15)},
    }
    root = folder({"export.zip": archive(files)} if packed else files)
    found = discover([root / "export.zip" if packed else root], "lab07", signatures).handed
    assert [(one.name, one.student_id) for one in found] == [
        ("=Ömer Ç., \u202eé", "00123"),
        ("Nothing There", None),
        ("Pair One, Pair Two", "200"),
        ("submission_13", "submission_13"),
        ("submission_15", None),
    ]
    assert found[0].received == datetime(2026, 11, 13, 20, 59, 0, 123456, tzinfo=UTC)
    assert found[2].received == datetime(2026, 11, 14, 1, 0, tzinfo=UTC)
    assert found[2].students == (
        Student(name="Pair One", id="200", email="one@x.org"),
        Student(name="Pair Two", id="201"),
    )
    assert "no such folder" in (found[1].problem or "")


def test_everybody_on_the_list_whose_folder_is_missing_is_named(
    folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    lines = [f"submission_{n}:\n  :submitters:\n  - :name: {who}\n" for n, who in enumerate("ABCC", 1)]
    files = {"submission_metadata.yml": "".join(lines).encode(), "submission_1/attention_lab.ipynb": notebook()}
    found = discover([folder(files)], "lab07", signatures).handed
    assert len({one.name for one in found}) == 4
    assert [one.name[0] for one in found] == ["A", "B", "C", "C"]
    assert [bool(one.problem) for one in found] == [False, True, True, True]


@pytest.mark.parametrize(
    "data", [b"", b"[1, 2]", b"a: [", b"\xff\xfe\xff", b"a: !!python/object:os.system {}", b"- " * 99999]
)
def test_a_list_that_cannot_be_read_leaves_the_folders_names(
    folder: Folder, notebook: Notebook, signatures: Signatures, data: bytes
) -> None:
    root = folder({"submission_metadata.yml": data, "submission_1/attention_lab.ipynb": notebook()})
    found = discover([root], "lab07", signatures)
    assert [one.name for one in found.handed] == ["submission_1"]
    assert "cannot be read" in found.left_out[0]


def test_a_ruby_object_in_the_list_is_plain_text_and_never_made() -> None:
    entries = read_metadata(b"submission_1:\n  :created_at: !ruby/object:Gem::Installer\n    x: 1\n  :submitters: 5\n")
    assert entries["submission_1"] == ((), None)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-13 20:59:00.123456 UTC\n", datetime(2026, 11, 13, 20, 59, 0, 123456, tzinfo=UTC)),
        ("2026-11-13 23:59:00 Europe/Istanbul", datetime(2026, 11, 13, 20, 59, tzinfo=UTC)),
        ("2026-11-13 20:59:00", datetime(2026, 11, 13, 20, 59, tzinfo=UTC)),
        ("2026-11-13T20:59:00+03:00", datetime(2026, 11, 13, 17, 59, tzinfo=UTC)),
        ("2026-11-13 20:59:00 +0300\n", datetime(2026, 11, 13, 17, 59, tzinfo=UTC)),
        ("2026-11-13 20:59:00.5 -05:30", datetime(2026, 11, 14, 2, 29, 0, 500_000, tzinfo=UTC)),
        ("2026-11-13 20:59:00 +9900", None),
        ("20261113-1200", datetime(2026, 11, 13, 12, tzinfo=UTC)),
        ("2026-11-13 20:59:00 ../../etc/passwd", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_nbgraders_time_of_collecting_is_read(text: str, moment: datetime | None) -> None:
    assert timestamp(text) == moment


def test_nbgraders_tree_tells_when_each_student_handed_in(
    folder: Folder, notebook: Notebook, signatures: Signatures
) -> None:
    root = folder(
        {
            "submitted/ayse/lab07/attention_lab.ipynb": notebook(),
            "submitted/ayse/lab07/timestamp.txt": b"2026-11-13 20:59:00 UTC",
            "submitted/mehmet/lab07/attention_lab.ipynb": notebook(),
        }
    )
    found = discover([root / "submitted"], "lab07", signatures).handed
    assert [one.received for one in found] == [datetime(2026, 11, 13, 20, 59, tzinfo=UTC), None]


def test_moodles_download_without_names_is_told_apart_by_its_numbers(
    folder: Folder, archive: Archive, notebook: Notebook, signatures: Signatures
) -> None:
    files = {f"Participant_{n}_assignsubmission_file_/attention_lab.ipynb": notebook() for n in (101, 102)}
    found = discover([folder({"m.zip": archive(files)}) / "m.zip"], "lab07", signatures).handed
    assert [(one.name, one.student_id, one.platform) for one in found] == [
        ("Participant (101)", "101", "moodle"),
        ("Participant (102)", "102", "moodle"),
    ]
