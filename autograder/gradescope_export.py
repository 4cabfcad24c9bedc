"""``submission_metadata.yml`` of a Gradescope export: whose each folder ``submission_…`` is, and when it came in.

The file is Gradescope's, with keys as Ruby writes them (``:submitters``); names in it are the students' own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import yaml

from autograder.names import valid_unicode
from autograder.result import Student

#: The name of the file, beside the folders.
METADATA = "submission_metadata.yml"
#: The name of the folder of one submission.
FOLDER = re.compile(r"submission_\d+")
#: Bytes of it that are read. Results of earlier runs are in it too, about 20 kB for a submission.
MAX_METADATA_BYTES = 64 << 20
#: Students of one submission that are believed; Gradescope's groups are smaller.
MAX_GROUP = 100


class Entry(NamedTuple):
    """One submission: who handed it in (of a group several), and when, if that is said."""

    students: tuple[Student, ...]
    received: datetime | None


#: Reads every word as text, whatever its tag says: a student's number keeps its zeros, and no object is ever made.
_LOADER = yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader
#: How YAML writes that there is nothing.
_NOTHING = ("", "~", "null", "Null", "NULL")


def read_metadata(data: bytes) -> dict[str, Entry]:
    """By the name of its folder, what is said about each submission; `ValueError` where it cannot be read."""
    try:
        found = yaml.load(data, Loader=_LOADER)  # noqa: S506 (it makes text, lists and mappings only)
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError, ValueError, OverflowError) as error:
        raise ValueError(str(error).splitlines()[0] if str(error) else "not YAML") from None
    entries = {
        folder: Entry(tuple(_students(entry.get(":submitters"))), _time(entry.get(":created_at")))
        for folder, entry in (found.items() if isinstance(found, dict) else ())
        if isinstance(entry, dict) and FOLDER.fullmatch(folder)
    }
    if not entries:
        raise ValueError("it lists no submissions")
    return entries


def _students(submitters: object) -> Iterator[Student]:
    for one in submitters[:MAX_GROUP] if isinstance(submitters, list) else []:
        if isinstance(one, dict) and (name := _text(one.get(":name"))):
            yield Student(name=name, id=_text(one.get(":sid")) or None, email=_text(one.get(":email")) or None)


def _text(value: object) -> str:
    return valid_unicode(value).strip() if isinstance(value, str) and value not in _NOTHING else ""


def _time(value: object) -> datetime | None:
    if isinstance(value, dict):
        value = value.get("utc")
    if not isinstance(value, str):
        return None
    try:
        # Ruby writes "2026-11-13 20:59:00.123456789 Z".
        moment = datetime.fromisoformat(value.strip().replace(" Z", "Z").replace(" UTC", "Z").replace(" +", "+"))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
