"""The bundled samples, each with the mark and the reason that it must get."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from autograder import course, discover, engine, submission
from autograder.result import Result
from tests.corpus.corpora import settings
from tests.samples import build

#: Sample -> the functions that lose marks, and the suspect that must be named (None: no particular one).
EXPECTED: dict[str, tuple[set[str], str | None]] = {
    "right-vectorised": (set(), None),
    "right-loops": (set(), None),
    "right-einsum": (set(), None),
    "right-code-without-answers": (set(), None),
    "wrong-softmax-over-queries": ({"attention", "self_attention"}, "softmax_over_queries"),
    "wrong-no-scale": ({"attention", "self_attention"}, "no_scale"),
    "wrong-mask-polarity": ({"attention", "self_attention"}, "mask_inverted"),
    "wrong-cache-off-by-one": ({"generate"}, None),
    "wrong-copied-table": ({"worked_example"}, None),
    "wrong-library-call": ({"softmax", "attention", "self_attention"}, "library_softmax"),
    "hostile-endless-loop": ({"prefix_gap"}, None),
    "hostile-exit": ({"score_bytes"}, None),
    "hostile-lying-shape": ({"sinusoidal_positions", "equivariance_report"}, None),
    "broken-syntax-error": ({"compare_with_torch"}, None),
    "wrong-units-exchanged": ({"in_units"}, "gb_and_gib_exchanged"),
    "wrong-rope-halves": ({"rope"}, "rope_pairs_halves"),
    "wrong-macs-for-flops": ({"attention_flops"}, "macs_not_flops"),
}
#: Functions whose mark is zero, not only lower.
NOTHING_FOR = {
    "wrong-copied-table": "worked_example",
    "wrong-library-call": "softmax",
    "hostile-endless-loop": "prefix_gap",
    "hostile-exit": "score_bytes",
    "hostile-lying-shape": "sinusoidal_positions",
    "broken-syntax-error": "compare_with_torch",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    folder: Path = tmp_path_factory.mktemp("samples")
    build.write(folder)
    names = course.signatures(settings().course)
    found = discover.discover([folder], "lab07", names)
    assert found.left_out == []
    return {h.name: engine.grade(submission.load(h, "lab07", names), settings()) for h in found.handed}


def points(result: Result) -> dict[str, tuple[float, float]]:
    """Points and maximum of each function, without what waits and what a person marks."""
    total: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for check in result.checks:
        if check.verdict not in ("pending", "inconclusive") and not check.id.endswith(".by_person"):
            total[check.function][0] += check.points
            total[check.function][1] += check.max_points
    return {function: (won, most) for function, (won, most) in total.items()}


def test_every_sample_is_expected(results: dict[str, Result]) -> None:
    assert set(results) == set(EXPECTED) | {
        "untouched-skeleton",
        "no-notebook",
        "partly-steps-1-and-2",
        "right-lab-alone",
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_marks_are_lost_where_the_mistake_is_and_nowhere_else(results: dict[str, Result], name: str) -> None:
    functions, suspect = EXPECTED[name]
    result = results[name]
    losing = {f for f, (won, most) in points(result).items() if won < most - 1e-9 and f != "measured_exponent"}
    assert losing == functions
    if suspect is not None:
        assert suspect in {check.suspect for check in result.checks}


@pytest.mark.parametrize("name", NOTHING_FOR)
def test_it_earns_nothing_at_all_there(results: dict[str, Result], name: str) -> None:
    assert points(results[name])[NOTHING_FOR[name]][0] == 0


@pytest.mark.parametrize("name", ["untouched-skeleton", "no-notebook"])
def test_nothing_was_written_so_nothing_is_earned(results: dict[str, Result], name: str) -> None:
    assert results[name].score == 0


def test_a_file_that_is_no_notebook_says_so(results: dict[str, Result]) -> None:
    message = results["no-notebook"].message or ""
    assert "not a notebook" in message
    assert "Traceback" not in message


def test_two_steps_of_eight_earn_the_points_of_two_steps(results: dict[str, Result]) -> None:
    parts = settings().course.parts["attention_lab"].points
    two = sum(value for key, value in parts.items() if key.startswith(("step1.", "step2.")))
    assert results["partly-steps-1-and-2"].score == pytest.approx(two)


def test_a_notebook_that_was_not_handed_in_earns_nothing_and_that_is_said(results: dict[str, Result]) -> None:
    alone, every = results["right-lab-alone"], results["right-vectorised"]
    there = [check for check in every.checks if check.notebook == "attention_lab"]
    assert alone.score == pytest.approx(sum(check.points for check in there))
    assert alone.max_score == every.max_score
    assert alone.message == "exercises and block_receipts were not handed in, which scores zero."
    missing = [check for check in alone.checks if check.notebook != "attention_lab"]
    assert {check.verdict for check in missing} == {"submission_error"}
    assert alone.manual_points == sum(check.max_points for check in there if check.verdict == "by_person")


def test_a_written_answer_left_as_it_was_handed_out_is_not_answered(results: dict[str, Result]) -> None:
    result, answered = results["right-code-without-answers"], results["right-vectorised"]
    written = [check for check in result.checks if check.id.endswith(".by_person")]
    assert len(written) == 14
    assert {check.verdict for check in written} == {"failed"}
    assert all("as it was handed out" in (check.message or "") for check in written)
    assert result.manual_points == 0
    assert result.score == answered.score
    assert answered.manual_points == sum(check.max_points for check in written)


def test_nothing_that_a_sample_does_is_an_error_of_the_grader(results: dict[str, Result]) -> None:
    assert [c.id for r in results.values() for c in r.checks if c.verdict == "grader_error"] == []


def test_every_lost_point_has_a_reason_in_words(results: dict[str, Result]) -> None:
    for result in results.values():
        for check in result.checks:
            if check.verdict in ("failed", "submission_error", "timeout", "skipped"):
                assert check.message, check.id
                assert len(check.message) > 15, check.id
                assert "Traceback" not in check.message, check.id
