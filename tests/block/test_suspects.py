"""Named mistakes of ``block_receipts``: each loses marks in its part and is named, whoever wrote it."""

from __future__ import annotations

import ast
import re
from collections import Counter

import numpy as np
import pytest

from autograder.lab import local_lab
from autograder.release import mutants
from autograder.suspects import NOTEBOOKS, all_suspects, name_suspect
from tests.filled_in import BLOCK

KNOWN = {suspect.id: suspect for suspect in all_suspects(BLOCK.name)}


@pytest.mark.parametrize("variant", BLOCK.cases("right.toml"), ids=lambda v: f"{v['task']}, {v['title']}")
def test_a_right_answer_in_other_words_is_called_nothing(variant: dict[str, str]) -> None:
    bound = mutants.bound(BLOCK.solution(), variant["source"])
    for node in ast.parse(variant["source"]).body:
        name = getattr(node, "name", "")
        if name in BLOCK.task_of:
            assert name_suspect(local_lab(bound), name, np.random.default_rng(3), BLOCK.name) is None, name


ALIKE = {
    "nothing_between_the_layers": """
def ffn_relu(x, W1, b1, W2, b2):
    return np.einsum("...f,fd->...d", np.einsum("...d,df->...f", x, W1) + b1, W2) + b2
""",
    "eps_as_a_floor": """
def layer_norm(x, eps=1e-5):
    size = np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True))
    return (x - x.mean(-1, keepdims=True)) / np.where(size > eps, size, eps)
""",
    "one_row_decides": """
def detectors_fired(x, W1, b1):
    a = np.clip(x @ W1 + b1, 0, None)
    return a, np.array([value > 0 for value in a[len(a) - 1]])
""",
}


@pytest.mark.parametrize("identifier", ALIKE)
def test_a_mistake_is_told_from_one_that_is_only_like_it(identifier: str) -> None:
    assert BLOCK.named(KNOWN[identifier].function, ALIKE[identifier]) == identifier


@pytest.mark.parametrize("leak", [0.005, 0.02, 0.05, 0.15, 0.3])
def test_a_leak_of_any_size_is_called_a_leak(leak: float) -> None:
    source = f"""
def ffn_relu(x, W1, b1, W2, b2):
    z = x @ W1 + b1
    return np.maximum(z, {leak} * z) @ W2 + b2
"""
    assert BLOCK.named("ffn_relu", source) == "leaky_relu"


def test_both_ceilings_are_called_by_their_names() -> None:
    one_rate = """
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return min(flops_per_second / (2 * parameters), bytes_per_second / (parameters * itemsize))
"""
    wrong_rate = """
def roofline_tokens_per_second(parameters, itemsize, flops_per_second, bytes_per_second):
    return flops_per_second / (2 * parameters), bytes_per_second / parameters
"""

    def said(source: str) -> str:
        return str(BLOCK.outcomes("serving", source)["roofline_tokens_per_second.both"].message)

    assert "A pair (compute_bound, bandwidth_bound) should come back" in said(one_rate)
    assert said(wrong_rate).startswith("bandwidth_bound of roofline_tokens_per_second")


def test_hints_are_one_kind_sentence_without_code_and_send_somewhere() -> None:
    code = re.compile(r"[`=@*\[\]_]|\bnp\b|\w\(|\d{2,}|None")
    unkind = re.compile(r"\b(failed|stupid|obviously|simply|just)\b", re.IGNORECASE)
    where = re.compile(r"(7\.[2-9]|7\.13|the article, section \d+), .+")
    for suspect in KNOWN.values():
        hint = suspect.hint
        assert hint[0].isupper() and hint.endswith(".") and ". " not in hint, hint
        assert 25 <= len(hint) <= 170, hint
        assert not code.search(hint) and not unkind.search(hint), hint
        assert where.fullmatch(suspect.read), suspect.read


def test_mistakes_are_filed_under_their_part_and_told_apart_by_their_hints() -> None:
    assert len(KNOWN) == len(all_suspects(BLOCK.name)) > 300
    assert {suspect.function: suspect.task for suspect in KNOWN.values()} == BLOCK.task_of
    hints = Counter((suspect.function, suspect.hint) for suspect in KNOWN.values())
    assert [hint for hint, times in hints.items() if times > 1] == []


def test_a_name_that_another_notebook_has_too_is_the_same_mistake() -> None:
    elsewhere = [s for notebook in NOTEBOOKS if notebook != BLOCK.name for s in all_suspects(notebook)]
    shared = {(s.id, s.function, KNOWN[s.id].function) for s in elsewhere if s.id in KNOWN}
    others = {name for name, there, here in shared if there != here}
    assert others == {"linear_in_n"}  # in n: the bytes of scores there, their arithmetic here
