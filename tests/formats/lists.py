"""Lists of students as each platform writes them, and results of people with awkward names."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from autograder.course import Course
from autograder.result import CheckResult, Result, Student

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,"
    "Lab 6 (501),Attention: the lab (502),Labs Current Score,Final Grade\r\n"
    ",,,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,10,25,(read only),(read only)\r\n"
    '"Ç., Ömer",1001,S1,omer,L1,9,,90,A\r\n'
    '"O\'Brien ""Bo"", Q",1002,S2,bo,"L1, L2",8,,80,B\r\n'
    '"بن سالم, م",1003,S3,ms,L1,7,,70,C\r\n'
    '"=HYPERLINK(""http://x"")",1004,S4,h,L1,,EX,,\r\n'
    '"Absent, A",1005,\'0005,=weird@x,L1,,3,,\r\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Online text,Last modified (grade),Feedback comments\r\n"
    'Participant 1001,Ömer Ç.,omer@x.org,Submitted for grading,,25.00,Yes,"Friday, 13 November 2026, 8:00 PM",'
    "=1+1,-,\r\n"
    'Participant 1002,"Q ""Bo"" O\'Brien",bo@x.org,Submitted for grading - 2 days late,,25.00,Yes,-,,-,'
    "See me on Monday\r\n"
    "Participant 1003,م بن سالم,ms@x.org,Submitted for grading,,25.00,Yes,-,,-,\r\n"
    "Participant 1005,+Absent,a@x.org,No submission,,25.00,Yes,-,,-,\r\n"
)
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,"
    "Lateness (H:M:S),View Count,Submission Count\n"
    "Ömer,Ç.,S1,omer@x.org,,,25.0,Ungraded,11,2026-11-13 20:00:00 +0300,00:00:00,0,1\n"
    "Q,O'Brien,S2,bo@x.org,,,25.0,Ungraded,12,2026-11-15 20:00:00 +0300,47:00:00,0,2\n"
    ",,S5,a@x.org,,,25.0,Missing,,,,,\n"
)


def one(
    course: Course, name: str, student: Student | None, score: float, platform: str | None = "canvas", **more: object
) -> Result:
    """A result with ``score`` of 25 points in one check."""
    check = CheckResult(
        id="attention_lab.step1.attention.mask",
        notebook="attention_lab",
        task="step1",
        function="attention",
        title="The mask holds.",
        points=score,
        max_points=25.0,
        verdict="passed" if score else "failed",
    )
    usual = {
        "submission": name,
        "assignment": course.assignment,
        "kit_version": "0.1.0+0123456789ab",
        "course_seed_id": "0a1b2c3d4e5f",
        "isolation": "bubblewrap",
        "device": "cpu",
        "score": score,
        "max_score": 25.0,
        "pending_points": 0.0,
        "manual_points": 0.0,
        "provisional": False,
        "seconds": 1.0,
        "cpu_seconds": 1.0,
        "message": None,
        "digest": "d",
        "checks": [check],
        "mark": score,
        "platform": platform,
        "students": [student] if student else [],
    }
    return Result(**(usual | more))


def file(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "list.csv"
    path.write_bytes(text.encode(encoding))
    return path


NOON = datetime.fromisoformat("2026-11-13T12:00:00+03:00")
