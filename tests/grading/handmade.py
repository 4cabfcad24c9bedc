"""A small course, and results made by hand."""

from __future__ import annotations

from pathlib import Path

import msgspec

from autograder import marks
from autograder.course import Course, load
from autograder.marks import Facts, Outcome
from autograder.result import Result, Verdict

COURSE = """
[course]
title = "Sinir ağları"
seed_file = "seed.txt"

[lab07]
title = "Attention: the lab"
chapter = "7"
notebooks = ["attention_lab"]

[lab07.limits]
cell_seconds = 5

[lab07.attention_lab.points]
"step1.softmax" = 5
"step1.attention" = 10
"step2.worked_example" = 7.5

[[lab07.attention_lab.by_person]]
task = "step2"
function = "why"
title = "Why the mask alone is enough."
points = 2.5
grade_id = "step2-why"
rubric = [{ points = 2.5, text = "Names the mask." }]
"""

#: Three checks for 10 points do not divide; the weights of the last function are unlike.
CHECKS = (
    ("step1.softmax.rows", 1.0),
    ("step1.softmax.large", 1.0),
    ("step1.attention.one_token", 1.0),
    ("step1.attention.rectangular", 1.0),
    ("step1.attention.mask", 1.0),
    ("step2.worked_example.weights", 2.0),
    ("step2.worked_example.output", 1.0),
)


def course_in(folder: Path) -> Course:
    (folder / "source").mkdir(parents=True, exist_ok=True)
    # Left alone where it is there: two graders that start at once read it while the other would write it.
    if not (folder / "source" / "course.toml").exists():
        (folder / "source" / "course.toml").write_text(COURSE, encoding="utf-8")
    return load("lab07", folder)


def facts(submission: str = "ada", **changes: object) -> Facts:
    usual = Facts(
        submission=submission,
        assignment="lab07",
        kit_version="0.1.0+0123456789ab",
        course_seed_id="0a1b2c3d4e5f",
        isolation="bubblewrap",
        device="cpu",
        seconds=2.5,
        cpu_seconds=1.25,
        digest="d" * 64,
        handed_in=("attention_lab",),
    )
    return msgspec.structs.replace(usual, **changes)


def outcomes(**verdicts: Verdict) -> list[Outcome]:
    """Every check passed, but for those named by their last two parts, as in ``attention__mask="failed"``."""
    made = []
    for name, weight in CHECKS:
        task, function, prop = name.split(".")
        verdict = verdicts.get(f"{function}__{prop}", "passed")
        made.append(
            Outcome(
                id=f"attention_lab.{name}",
                notebook="attention_lab",
                task=task,
                function=function,
                title=f"The {prop.replace('_', ' ')} of {function} come out right.",
                weight=weight,
                verdict=verdict,
                message=None if verdict == "passed" else f"{function} and {prop}: this came back, and that is why.",
            )
        )
    return made


def result(course: Course, submission: str = "ada", **verdicts: Verdict) -> Result:
    return marks.assemble(outcomes(**verdicts), course, facts(submission))
