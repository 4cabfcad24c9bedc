"""Code that wants marks it did not earn, or wants to do harm: each gets the verdict that it must get."""

from __future__ import annotations

import resource

import pytest

from tests.attacks.conftest import Attack, Grader, Marks, attacks, handed_in

EVERY = attacks()
#: What the oracle's own process may grow by while it grades one attack, in MiB.
GROWTH_MIB = 400


def earned(marks: Marks) -> set[str]:
    return {name for name, verdict in marks.items() if verdict in ("passed", "pending")}


def task(check: str) -> str:
    return check.split(".")[1].removeprefix("step")


def test_right_answers_earn_everything_and_wrong_ones_nothing(bases: dict[str, Marks]) -> None:
    assert earned(bases["right"]) == set(bases["right"])
    assert earned(bases["wrong"]) == set()


def test_every_attack_says_what_must_hold() -> None:
    for attack in EVERY.values():
        assert attack.base in ("right", "wrong"), attack.name
        assert attack.must in ("earn nothing more", "keep its marks") or attack.must.startswith("lose only in "), (
            attack.name
        )


@pytest.mark.parametrize("attack", EVERY.values(), ids=EVERY)
def test_it_gets_what_it_must(attack: Attack, grader: Grader, bases: dict[str, Marks]) -> None:
    before = peak_mib()
    marks = grader.mark(handed_in(attack), float(attack.seconds) if attack.seconds else None)
    assert [name for name, verdict in marks.items() if verdict == "grader_error"] == []
    assert peak_mib() - before < GROWTH_MIB, "the oracle itself grew"
    base, have = earned(bases[attack.base]), earned(marks)
    assert have <= base
    if attack.must == "keep its marks":
        assert have == base
    elif attack.must.startswith("lose only in"):
        tasks = attack.must.removeprefix("lose only in ").split(",")
        assert {name for name in base - have if task(name) not in tasks} == set()


def test_those_who_are_graded_after_all_of_them_lose_nothing(grader: Grader, bases: dict[str, Marks]) -> None:
    assert grader.mark(handed_in(None)) == bases["right"]


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
