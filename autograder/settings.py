"""What a grading run is told once, the same for every submission."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from autograder.course import Course

Device = Literal["auto", "cpu", "cuda"]
Isolation = Literal["auto", "bubblewrap", "user", "none"]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Travels to every worker process. The seed is left out of its printed form, and of every result."""

    assignment: str
    course: Course
    seed: str = field(repr=False)
    seed_id: str
    kit_version: str
    device: Device = "auto"
    isolation: Isolation = "auto"
