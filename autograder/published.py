"""What a submission answers to the public checks: an answer that a feedback page may show to its student.

The inputs of the hidden checks stay secret. Those of ``attnlab.public`` are in every student's hands, so where a
function fails, the first public check that it does not pass either is written down: the property in words, what came
back, and the picture of it. The checks run here and call the submission like the hidden ones do; a check for which
that is not enough, since it needs to hold an object of the student's, says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from attnlab.checking import declared
from attnlab.picture import Picture as Shown
from attnlab.public import declare
from attnlab.steps import BY_ID, NOTEBOOKS, functions
from autograder import failures
from autograder.lab import Lab
from autograder.result import Example, Picture
from autograder.spelling import clip, spell

#: Functions whose public checks load PyTorch into this process, or look at what a library did there.
NOT_ASKED = ("compare_with_torch",)
#: What only the student's own process can see.
NOT_SEEN_FROM_HERE = ("own", "unchanged")
#: Characters of a sentence about what came back.
MAX_SENTENCE = 400


def example(lab: Lab, task: str, function: str) -> Example | None:
    """The first public check of a function that the submission does not pass, or None where none says anything.

    Nothing that a submission sends back raises.
    """
    if task not in BY_ID or function in NOT_ASKED:
        return None
    names = {name for notebook in NOTEBOOKS for name in functions(notebook)}
    bound = declare.Lab({name: getattr(lab, name) for name in names})
    for check in _seen_from_here(declared(task), function):
        try:
            check.run(bound)
        except declare.Mistake as mistake:
            return _example(check, mistake)
        except declare.StudentError as error:
            if isinstance(error.error, (failures.TimedOut, failures.Died)):
                return None  # there is nobody left to ask
        except Exception:  # noqa: S112 (an answer so odd that reading it raises shows nothing)
            continue
    return None


def _seen_from_here(checks: Iterable[declare.PublicCheck], function: str) -> Iterable[declare.PublicCheck]:
    for check in checks:
        if check.function == function and check.id.rpartition(".")[2] not in NOT_SEEN_FROM_HERE:
            yield check


def _example(check: declare.PublicCheck, mistake: declare.Mistake) -> Example:
    came_back = clip(spell(mistake.came_back), MAX_SENTENCE)
    picture = _kept(mistake.picture) if mistake.picture else None
    return Example(check=check.id, sentence=check.sentence, came_back=came_back, picture=picture)


def _kept(shown: Shown) -> Picture:
    """A picture as a result keeps it."""
    return Picture(
        title=clip(spell(shown.title), MAX_SENTENCE),
        rows=shown.rows,
        columns=shown.columns,
        cells=[list(row) for row in shown.cells],
        shades=[list(row) for row in shown.shades],
        wrong=[list(place) for place in shown.wrong],
        sums=list(shown.sums),
        off=list(shown.off),
    )
