"""Named misconceptions, and the matcher that says which of them a failing function looks like."""

from autograder.suspects.match import Match, name_suspect
from autograder.suspects.registry import NOTEBOOKS, Suspect, all_suspects, suspects_of

__all__ = ["NOTEBOOKS", "Match", "Suspect", "all_suspects", "name_suspect", "suspects_of"]
