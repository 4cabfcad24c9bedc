"""The notebook ``exercises``: twelve questions (chapter sections 7.10 and 7.11) and the exercises of section 7.13."""

from __future__ import annotations

from attnlab.step import Step

#: The step that stands for all twelve questions; it has no functions and counts in no mark.
QUESTIONS = "questions"

_READ_BY_A_PERSON = "What you write about {what} is read by a person."


def _exercise(number: int, title: str, functions: str, written: str) -> Step:
    read = f"chapter section 7.13, exercise {number}"
    said = _READ_BY_A_PERSON.format(what=written)
    return Step(f"exercise{number}", number, title, tuple(functions.split()), read, said, notebook="exercises")


EXERCISES: tuple[Step, ...] = (
    Step(QUESTIONS, 0, "Twelve questions", (), "chapter sections 7.10 and 7.11", notebook="exercises"),
    _exercise(1, "One word moves a pronoun", "", "the three substitutions and the limits of a map"),
    _exercise(2, "Word order", "order_gaps", "the symmetry and the read-outs"),
    _exercise(3, "The bytes of a KV cache", "kv_cache_bytes in_units", "grouped-query attention"),
    _exercise(4, "A constant feature", "weights_with_constant_row", "the proof and the one sentence"),
    _exercise(5, "Smaller scores", "row_at_scale", "what the scale protects against"),
    _exercise(6, "The costs of heads", "head_costs", "what is lost, and latency"),
    _exercise(7, "The similarity of two positions", "position_similarity", "near and similar"),
    _exercise(8, "Rotating against adding", "rope offset_spread", "what the two numbers show and what they do not"),
    _exercise(9, "The longest context", "max_context", "what changed, and why it is no usable limit"),
    _exercise(10, "What a mixture of experts weighs", "weight_bytes", "the correction and the trade-offs"),
    _exercise(11, "The compute of two training runs", "training_flops", "what changed and what you would want to see"),
)
