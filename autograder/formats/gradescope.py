"""Gradescope: what goes into the archive that is uploaded there, grading in its container, and ``results.json``.

``python -m autograder.formats.gradescope [FOLDER]`` grades ``FOLDER/submission`` with ``FOLDER/source`` into
``FOLDER/results/results.json``; Gradescope's folder is ``/autograder``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from autograder import engine
from autograder.course import Course, CourseError, ShowChecks
from autograder.formats import carried
from autograder.formats.carried import NoMark
from autograder.names import display_name
from autograder.pages.words import UNDECIDED, task_name, worded
from autograder.result import CheckResult, Result, is_by_person, mark_of
from autograder.sandbox.launch import NoIsolation
from autograder.spelling import clip
from autograder.table import number

ROOT = Path("/autograder")
METADATA = "submission_metadata.json"
#: Characters of what a student reads about one check, or about everything.
MAX_OUTPUT = 4000
#: Files of the archive that are the same for every course.
SCRIPTS = ("setup.sh", "run_autograder")

ISOLATIONS = {
    "bubblewrap": "bubblewrap (no network, read-only system, namespaces of its own)",
    "user": "a separate unprivileged user (bubblewrap cannot be used on this machine)",
    "none": "none but the limits",
}
BY_HAND = "Its {points} points are added by hand."
WAITS = "Its {points} points wait, and are not lost."


def scripts(module: str) -> dict[str, bytes]:
    """``setup.sh``, and ``run_autograder`` that starts a module of the grader."""
    folder = Path(__file__).parent / "scripts"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in SCRIPTS}
    return {name: text.replace("@MODULE@", module).encode("utf-8") for name, text in texts.items()}


def entries() -> dict[str, bytes]:
    """What is Gradescope's own in the archive, by path."""
    return scripts("autograder.formats.gradescope")


def results(result: Result, show: ShowChecks, handed_in: Iterable[str] = ()) -> dict[str, Any]:
    """``results.json``: one test for each check, in the order of the course.

    ``score`` holds what is decided, less what lateness costs by ``course.toml``. A check that waits, for a person or
    a machine, has no score of its own, so that nothing shows it as lost. Everything is plain text, because students'
    own text is in it.
    """
    return {
        "score": mark_of(result),
        "execution_time": round(result.seconds),
        "output": clip("\n".join(overall(result, handed_in)), MAX_OUTPUT),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": list(_tests(result.checks, show)),
        "extra_data": {
            "kit_version": result.kit_version,
            "course_seed_id": result.course_seed_id,
            "isolation": result.isolation,
            "device": result.device,
            "max_score": result.max_score,
            "pending_points": result.pending_points,
            "manual_points": result.manual_points,
            "digest": result.digest,
        },
    }


def overall(result: Result, handed_in: Iterable[str]) -> Iterator[str]:
    """Sentences about the whole submission, which students see at once: was it read, what waits, what kept it in."""
    found = list(handed_in)
    yield f"Read: {', '.join(found)}." if found else "No notebook of this assignment was found in what was handed in."
    if result.message:
        yield result.message
    if result.manual_points:
        yield f"{number(result.manual_points)} points wait for a person and are not in the score yet."
    if result.pending_points:
        yield f"{number(result.pending_points)} points wait for a machine that can measure them; they are not lost."
    yield f"Isolation of the code while it was graded: {ISOLATIONS[result.isolation]}."


def output(check: CheckResult) -> str:
    """What a student reads about one check."""
    wording = worded(check)
    said = [f"{wording.sign} {wording.word}", check.message or UNDECIDED.get(check.verdict, "")]
    if check.verdict == "by_person":
        said.append(BY_HAND.format(points=number(check.max_points)))
    elif is_by_person(check):
        del said[0]  # nothing was looked at that could hold or not
    elif check.verdict in UNDECIDED:
        said.append(WAITS.format(points=number(check.max_points)))
    return clip("\n".join(line for line in said if line), MAX_OUTPUT)


def _tests(checks: Iterable[CheckResult], show: ShowChecks) -> Iterator[dict[str, Any]]:
    for i, ((notebook, task), group) in enumerate(groupby(checks, lambda c: (c.notebook, c.task)), 1):
        for j, check in enumerate(group, 1):
            test: dict[str, Any] = {
                "number": f"{i}.{j}",
                "name": f"{task_name(task)}, {check.function}: {check.title}",
                "tags": [notebook],
                "visibility": show,
                "output": output(check),
                "extra_data": {"id": check.id, "verdict": check.verdict, "suspect": check.suspect},
            }
            if not (is_by_person(check) or check.verdict in UNDECIDED):
                passed = check.verdict == "passed"
                test |= {
                    "score": check.points,
                    "max_score": check.max_points,
                    "status": "passed" if passed else "failed",
                }
            yield test


def rubric(course: Course) -> str:
    """What an instructor sets up in Gradescope by hand: a question for each answer that a person marks."""
    lines = [f"# {course.title}: questions to mark by hand", ""]
    lines += ["In Gradescope, under *Edit Outline* of the assignment, add these beside the autograder's points.", ""]
    automatic = sum(sum(part.points.values()) for part in course.parts.values())
    lines += [f"Autograder points: {number(automatic)}.", ""]
    for notebook, part in course.parts.items():
        for answer in part.by_person:
            lines += [f"## {answer.title} ({notebook}, {task_name(answer.task)}): {number(answer.points)} points", ""]
            lines += [f"- {number(line.points)}: {line.text}" for line in answer.rubric]
            lines += [""]
    return "\n".join(lines)


def main(root: Path = ROOT) -> None:
    """Grade the submission in Gradescope's folder; without a mark the process ends with a sentence and exit code 1."""
    target = root / "results" / "results.json"
    target.unlink(missing_ok=True)
    try:
        close(root)
        about = metadata(root)
        graded = carried.grade(root / "source", root / "submission", name_in(about), received_in(about))
    except (CourseError, NoIsolation, NoMark) as error:
        carried.refuse(error)
    finally:
        engine.close()
    content = msgspec.json.format(msgspec.json.encode(results(graded.result, graded.show, graded.handed_in)), indent=1)
    draft = target.with_suffix(".tmp")
    draft.write_bytes(content)
    draft.replace(target)
    print(f"{display_name(graded.result.submission)}: {number(mark_of(graded.result))} points.")


def close(root: Path) -> None:
    """Let no other user, which a submission may be here, read the seed, results, or names of students.

    Raises ``NoMark`` where that cannot be done.
    """
    for name in ("source", "results", "submission"):
        (root / name).mkdir(exist_ok=True)
        carried.close_to_others(root / name)
    if (root / METADATA).is_file():
        (root / METADATA).chmod(0o600)


def metadata(root: Path) -> dict[str, Any]:
    """What Gradescope says about the submission; empty where there is nothing that can be read."""
    try:
        found = msgspec.json.decode((root / METADATA).read_bytes())
    except (OSError, msgspec.MsgspecError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def name_in(about: dict[str, Any]) -> str:
    """What Gradescope calls the submission: its number. Names and addresses of students are not needed."""
    found = about.get("id")
    return f"submission_{found}" if isinstance(found, int) else "submission"


def received_in(about: dict[str, Any]) -> datetime | None:
    """When it was handed in, as Gradescope says it; None where that cannot be read."""
    try:
        found = datetime.fromisoformat(str(about.get("created_at")))
    except ValueError:
        return None
    return found if found.tzinfo else None


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
