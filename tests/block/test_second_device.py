"""The stand-in device has the article's bug and no other: what is right on it stays right."""

from __future__ import annotations

import numpy as np
import pytest

from attnlab.second_device import CPU, NO_FLOAT64, STAND_IN


def test_integers_moved_and_cast_in_one_call_come_back_as_their_bits() -> None:
    found = STAND_IN.send(np.array([105, 0, -1])).fetch(np.float64)
    # The article prints 5.1877e-322 for 105; zero has no bits, and -1 has all of them, which is NaN.
    assert found[0] == 105 * 2.0**-1074
    assert f"{found[0]:.4e}" == "5.1877e-322"
    assert found[1] == 0
    assert np.isnan(found[2])


def test_moving_first_and_casting_then_is_right_on_both() -> None:
    positions = np.arange(100, 110)
    for device in (CPU, STAND_IN):
        assert np.array_equal(device.send(positions).fetch().astype(np.float64), positions)
        assert np.array_equal(device.send(positions).fetch(np.float32), positions)
        assert np.array_equal(device.send(positions).cast(np.float32).fetch(), positions)


def test_the_plain_device_casts_as_numpy_does() -> None:
    assert CPU.send(np.array([105])).fetch(np.float64).tolist() == [105.0]
    assert CPU.send(np.array([1.5], np.float32)).fetch(np.float64).tolist() == [1.5]


def test_a_float_array_is_refused_loudly() -> None:
    there = STAND_IN.send(np.array([105.0], np.float32))
    for ask in (lambda: there.fetch(np.float64), lambda: there.cast(np.float64), lambda: STAND_IN.send(np.zeros(2))):
        with pytest.raises(TypeError, match=NO_FLOAT64):
            ask()


def test_what_is_sent_is_a_copy() -> None:
    values = np.arange(4)
    there = STAND_IN.send(values)
    values[:] = 9
    fetched = there.fetch()
    fetched[:] = 7
    assert there.fetch().tolist() == [0, 1, 2, 3]
    assert (there.shape, there.dtype, str(there.device)) == ((4,), np.int64, "stand-in")


def test_the_bug_switches_rotary_positions_off() -> None:
    # Every angle is next to nothing, so nothing turns, and no error says so.
    angles = STAND_IN.send(np.arange(1, 5000)).fetch(np.float64)
    assert np.array_equal(np.cos(angles), np.ones(4999))
    assert np.abs(np.sin(angles)).max() < 1e-300
