"""What a notebook asks for in one piece: a step, an exercise or a part."""

from __future__ import annotations

from dataclasses import dataclass

LAB = "attention_lab"

#: What a piece of each notebook is called in front of a person.
KINDS = {LAB: "Step", "exercises": "Exercise", "block_receipts": "Part", "linear_layers": "Part"}

#: Which notebooks are handed in together.
ASSIGNMENTS = {"lab07": (LAB, "exercises", "block_receipts"), "lab02": ("linear_layers",)}


@dataclass(frozen=True)
class Step:
    """One step: ``functions`` are the names that a student binds, in the order in which they are met.

    ``read`` says where it is explained; ``written`` is set where a person also reads an answer.
    """

    id: str
    number: int
    title: str
    functions: tuple[str, ...]
    read: str
    written: str = ""
    notebook: str = LAB

    @property
    def name(self) -> str:
        """``Step 3``, ``Exercise 3``, ``Part 3``; what has no number is called by its title."""
        return f"{KINDS[self.notebook]} {self.number}" if self.number else self.title

    @property
    def label(self) -> str:
        """Name and title: ``Exercise 3. The bytes of a KV cache``."""
        return f"{self.name}. {self.title}" if self.number else self.title

    @property
    def module(self) -> str:
        """The module that declares its public checks."""
        folder = "" if self.notebook == LAB else f"{self.notebook}."
        return f"attnlab.public.{folder}{self.id}"


def assignment_of(notebook: str) -> str:
    """The assignment that a notebook belongs to, by its name."""
    return next(name for name, notebooks in ASSIGNMENTS.items() if notebook in notebooks)
