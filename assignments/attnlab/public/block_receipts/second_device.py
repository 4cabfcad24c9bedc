"""Part 15 in public: the stand-in's fault, and an operation without one."""

from __future__ import annotations

import numpy as np

from attnlab.public.answers import Array, verdict
from attnlab.public.declare import Checks, Lab, Mistake
from attnlab.second_device import CPU, STAND_IN, Device

check = Checks("second_device")

READ = "article, section 15"


def _verdict(answer: object, wanted: bool, what: str, guess: str) -> None:
    found = verdict(answer, "same_on_both")
    if found is not wanted:
        raise Mistake(f"Of {what} it says {found}.", guess)


@check("same_on_both.fault", read=READ)
def the_fault_is_caught(lab: Lab) -> None:
    """Moving and casting positions in one call differs on the stand-in; moving first and casting then does not."""
    positions = np.arange(100, 105)

    def in_one_call(device: Device) -> Array:
        return np.asarray(np.cos(device.send(positions).fetch(np.float64)))

    def one_after_the_other(device: Device) -> Array:
        return np.cos(device.send(positions).fetch().astype(np.float64))

    guess = "Run fn once with each device, and compare the two arrays entry by entry."
    _verdict(lab.same_on_both(in_one_call, CPU, STAND_IN), False, "the call that reads bits as numbers", guess)
    guess = "These two are equal on both devices."
    _verdict(lab.same_on_both(one_after_the_other, CPU, STAND_IN), True, "moving first and casting then", guess)


@check("same_on_both.rounding", read=READ, needs=["same_on_both.fault"])
def rounding_is_forgiven(lab: Lab) -> None:
    """A difference of 1e-9 is rounding; one of 1e-3 is not, unless the tolerance says so."""
    for gap, tolerance, wanted in ((1e-9, 1e-6, True), (1e-3, 1e-6, False), (1e-3, 1e-2, True), (-1e-3, 1e-6, False)):
        answers = {"here": np.ones(3), "there": np.ones(3) + gap}
        found = lab.same_on_both(lambda device, answers=answers: answers[device], "here", "there", tolerance=tolerance)
        guess = "Take absolute differences, and compare them with the tolerance alone."
        _verdict(found, wanted, f"a difference of {gap:g} with a tolerance of {tolerance:g}", guess)
