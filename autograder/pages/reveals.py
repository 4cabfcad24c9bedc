"""What a feedback page may show, as ``course.toml`` says it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from autograder.course import ByPerson, Course, RubricLine
from autograder.policy import Feedback


@dataclass(frozen=True)
class Reveals:
    """``rubrics``: by the id of a check, what a person looks for in the answer; empty where students do not see it.

    ``guides``: the same with examples of answers, for the class page and whoever marks.
    """

    feedback: Feedback = field(default_factory=Feedback)
    rubrics: Mapping[str, Sequence[RubricLine]] = field(default_factory=dict)
    guides: Mapping[str, ByPerson] = field(default_factory=dict)

    def link(self, read: str) -> str:
        """The address of a section that a hint names, or nothing where the course gives none."""
        section = re.search(r"\d+(?:\.\d+)*", read)
        if not self.feedback.chapter_url or section is None or read.startswith("article"):
            return ""
        return self.feedback.chapter_url.replace("{section}", quote(section[0]))


#: The sentences of the checks and their points, and nothing else.
NOTHING = Reveals(Feedback(messages=False, suspects=False, examples=False))


def reveals(course: Course) -> Reveals:
    """What the pages of a course may show."""
    guides = {
        f"{notebook}.{answer.task}.{answer.function}.by_person": answer
        for notebook, part in course.parts.items()
        for answer in part.by_person
        if answer.rubric
    }
    rubrics = {check: answer.rubric for check, answer in guides.items() if course.show_rubrics}
    return Reveals(course.policy.feedback, rubrics, guides)
