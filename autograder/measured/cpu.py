"""The measured exponent on a CPU: which sizes, how often, in which order, and how the answer comes about.

Student and reference take turns, size after size, round after round, so that a machine that slows down slows
everything alike; every call has fresh inputs, and of the repeats only the shortest counts. The quick schedule
takes a tenth of a second and decides the plain cases, which are nearly all: code whose every octave is that of n².
What it cannot decide goes on to the short one, which takes about a second, and then to the long one. No verdict
against a student rests on one schedule alone, nor on the quick one at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, Protocol

from autograder.failures import CheckFailed, Inconclusive, OutOfMemory
from autograder.measured.verdict import TINY, Finding, Samples, judge

#: Sizes to choose from. Beyond the last, a call takes long and page faults decide on many machines.
SIZES = tuple(2**k for k in range(3, 12))
#: A schedule times this many sizes, the largest that can be afforded: four octaves, of which three are judged.
LADDER = 5
#: The next size is expected to take longer by what this one did, but by at least and at most this much.
LEAST_GROWTH, MOST_GROWTH = 2.0, 10.0
#: What takes less (seconds) is timed more often in every round: the minimum of many short calls costs little.
SHORT_CALL = 3e-3
#: The first call of a size, where it takes less (seconds), is a warm-up.
WARM_UP = 1e-2
FEWEST_ROUNDS = 3
#: Of each size, before the quick schedule is looked at.
FEWEST_SAMPLES = 3
#: The line of the last octave for the quick schedule (right code: 2.1), below the verdict's own, because it is looked
#: at after every round: three times as fast a product as was ever seen passed in none of 600 simulated runs.
QUICK_LINE = 2.2


class Measure(Protocol):
    """What can be timed. ``n`` is the number of tokens; inputs are fresh float32 arrays ``(n, 64)`` for each call,
    and neither making them nor handing them over is in the seconds."""

    def student(self, n: int) -> float:
        """Seconds of one call of the submission's ``attention``."""
        ...

    def reference(self, n: int) -> float:
        """Seconds of one call of plain attention, in a process like the submission's."""
        ...

    def spot_check(self, n: int) -> bool:
        """Whether rows of what the last ``student(n)`` gave are right, chosen at random."""
        ...


@dataclass(frozen=True)
class Schedule:
    """``longest``: seconds that one call may be expected to take, which decides the largest size. ``rounds``:
    repeats of every size, fewer (at least ``FEWEST_ROUNDS``) where they would take more than ``total`` seconds.
    ``again``: how often a call of less than ``SHORT_CALL`` is timed in each. ``sizes``: to choose from, each twice the
    one before. ``overlaps``: see ``verdict.judge``."""

    longest: float
    rounds: int
    total: float
    again: int = 3
    sizes: tuple[int, ...] = SIZES
    overlaps: bool = False


#: For the plain cases, which show after a round or two: a tenth of a second for code like the reference, of which one
#: call takes 7 ms at the largest size.
QUICK = Schedule(longest=0.015, rounds=8, total=0.4, again=2, sizes=SIZES[3:])
#: About half a second for code like the reference (0.03 s at the largest size), some two seconds at most.
SHORT = Schedule(longest=0.15, rounds=5, total=1.2)
#: For what the short one could not decide: larger sizes for slow code, and more repeats.
LONG = Schedule(longest=1.0, rounds=9, total=4.0)


def expect_quadratic(measure: Measure) -> Finding:
    """Return what was found where the submission's time grows with n².

    Raises ``CheckFailed`` where it does not, or where its results at the largest size are wrong, and
    ``Inconclusive`` where this machine cannot tell.
    """
    finding = decide(measure, quick=QUICK)
    # Wrong rows are no noise: they count where the times could not tell, too.
    if not measure.spot_check(finding.largest):
        raise CheckFailed(
            f"At n = {finding.largest}, rows of the output are not right, so its time says nothing: what holds for "
            "short sequences must hold for long ones."
        )
    if finding.outcome == "unclear":
        raise Inconclusive(f"This machine could not tell how the time grows: {finding.reason}. The points wait.")
    if finding.outcome != "quadratic":
        _not_quadratic(finding)
    return finding


def decide(measure: Measure, short: Schedule = SHORT, long: Schedule = LONG, quick: Schedule | None = None) -> Finding:
    """The finding of as many schedules as it takes; ``unclear`` where they do not agree against the student.

    ``quick``, where given, comes first, and is believed only where it is plain.
    """

    def find(schedule: Schedule) -> Finding:
        return judge(*sample(measure, schedule), overlaps=schedule.overlaps)

    if quick is not None and (found := at_once(measure, quick)):
        return found
    first = find(short)
    if first.outcome == "quadratic":
        return first
    second = find(long)
    if first.outcome == "unclear" and second.outcome in ("steeper", "flatter"):
        first, second = second, find(long)
    if second.outcome == first.outcome or (first.outcome == "unclear" and second.outcome == "quadratic"):
        return second
    return replace(second, outcome="unclear", reason="two measurements did not agree")


def at_once(measure: Measure, quick: Schedule) -> Finding | None:
    """What the quick schedule finds, after as few rounds as make it plain; None where it never is."""
    for student, reference in rounds(measure, quick):
        if min(map(len, student.values())) < FEWEST_SAMPLES:
            continue
        found = judge(student, reference)
        if plain(found):
            return found
        if found.outcome in ("steeper", "flatter"):
            break
    return None


def plain(finding: Finding) -> bool:
    """Whether the last octave, its noise added, is clearly that of n² too. At the small sizes of the quick schedule a
    product too many may not show in the middle one of three, by which the verdict goes, but shows in the last."""
    return finding.outcome == "quadratic" and finding.slopes[-1] + finding.noise[-1] <= QUICK_LINE


def sample(measure: Measure, schedule: Schedule) -> tuple[Samples, Samples]:
    """Seconds of student and reference at ``TINY`` and at each size of the ladder, of all rounds."""
    *_, last = rounds(measure, schedule)
    return last


def rounds(measure: Measure, schedule: Schedule) -> Iterator[tuple[Samples, Samples]]:
    """The same after each round, which ends with a call of the student's at the largest size."""
    seen = climb(measure, schedule.longest, schedule.sizes)
    ladder = sorted(seen)[-LADDER:]
    sizes = [TINY, *ladder]
    # One call of each, in seconds: student and reference together.
    repeats = {n: schedule.again if n == TINY or sum(seen[n]) < SHORT_CALL else 1 for n in sizes}
    round_seconds = sum(repeats[n] * sum(seen[n]) for n in ladder)
    affordable = int(schedule.total / max(round_seconds, 1e-6))
    # Not those of the climb: a call behind one of the same size is quicker than any in a round, and alone in that.
    student: dict[int, list[float]] = {n: [] for n in sizes}
    reference: dict[int, list[float]] = {n: [] for n in sizes}
    for _ in range(max(FEWEST_ROUNDS, min(schedule.rounds, affordable))):
        for n in sizes:
            for _ in range(repeats[n]):
                reference[n].append(measure.reference(n))
                student[n].append(measure.student(n))
        yield student, reference


def climb(measure: Measure, longest: float, sizes: Sequence[int] = SIZES) -> dict[int, tuple[float, float]]:
    """Seconds of student and reference at each size that can be afforded; the warm-up of every size besides.

    A size that needs more memory than there is ends the climb, unless it is the first.
    """
    measure.student(TINY)
    measure.reference(TINY)
    seen: dict[int, tuple[float, float]] = {}
    growth = 4.0
    for n in sizes:
        before = seen[n // 2][0] if n // 2 in seen else 0.0
        if before * growth > longest:
            break
        try:
            now = measure.student(n)
            if now < WARM_UP:
                # The first call at a size faults its memory in; what is not quick is not called again for its sake.
                now = min(now, measure.student(n))
            seen[n] = now, measure.reference(n)
        except OutOfMemory:
            if not seen:
                raise
            break
        if before > 0:
            growth = min(max(now / before, LEAST_GROWTH), MOST_GROWTH)
    return seen


def _not_quadratic(finding: Finding) -> NoReturn:
    beside = f"Timed beside plain attention, up to n = {finding.largest}, your attention"
    if finding.outcome == "steeper":
        raise CheckFailed(
            f"{beside} takes time that grows faster than n²: the fitted exponent is {finding.exponent:.1f}. Look for a "
            "product or a loop over a third index that runs over tokens, such as one (n, n) matrix times another. "
            "Section 7.9, step 5."
        )
    raise CheckFailed(
        f"{beside} takes less time than n² scores need, and its time does not grow with n². All scores must be "
        "computed anew in every call. Section 7.9, step 5."
    )
