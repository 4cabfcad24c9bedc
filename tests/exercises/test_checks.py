"""The hidden checks of the exercises: right answers lose nothing, and what is copied or made up earns nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from autograder.checks import collect
from autograder.suspects.probes import ASKED
from tests.filled_in import EXERCISES, LOST, lost

TASKS = [f"exercise{number}" for number in range(2, 12)]
RIGHT = EXERCISES.cases("right.toml")

FUNCTIONS = {
    "order_gaps": "exercise2",
    "kv_cache_bytes": "exercise3",
    "in_units": "exercise3",
    "weights_with_constant_row": "exercise4",
    "row_at_scale": "exercise5",
    "head_costs": "exercise6",
    "position_similarity": "exercise7",
    "rope": "exercise8",
    "offset_spread": "exercise8",
    "max_context": "exercise9",
    "weight_bytes": "exercise10",
    "training_flops": "exercise11",
}

#: The values that the chapter's case gives, as somebody would copy them.
COPIED = {
    "order_gaps": "{'tokens': 1e-16, 'mean_pool': 0.0, 'mean_pool_positions': 0.24010690813355554, "
    "'mean_pool_causal': 0.20193128107731897, 'last_token_causal': 0.2052104112692339}",
    "kv_cache_bytes": "{32: 52_428_800_000, 8: 13_107_200_000}.get(args[1], 52_428_800_000)",
    "in_units": "{52_428_800_000: (52.4288, 48.828125)}.get(args[0], (13.1072, 12.20703125))",
    "row_at_scale": "[0.38136383804740775, 0.40355888694533204, 0.21507727500726015]",
    "position_similarity": "{16: 19.372820, 32: 19.553972}.get(args[0], 19.372820)",
    "max_context": "{64: 17166, 8: 137329}.get(args[4], 17166)",
    "weight_bytes": "{16: 240e9, 8: 120e9, 4: 60e9}.get(args[1], 240e9)",
    "training_flops": "5.04e23 if args[0] == 280 * 10**9 else 5.88e23",
}

#: What a submission may give back instead of an answer.
STRANGE = {
    "nothing": "None",
    "a text": "'an answer'",
    "an empty list": "[]",
    "an empty mapping": "{}",
    "a truth value": "True",
    "zero": "0",
    "one": "1.0",
    "not a number": "float('nan')",
    "infinity": "-float('inf')",
    "a huge integer": "10**4000",
    "a complex number": "1 + 2j",
    "texts in an array": "np.array(['a', 'b', 'c'])",
    "objects in an array": "np.array([{}, None, []], dtype=object)",
    "many axes": "np.zeros((1,) * 12)",
    "zeros": "np.zeros((3, 3))",
    "ragged lists": "[[1, 2], [3]]",
    "a mapping of nothing": "dict.fromkeys('tokens mean_pool head_dim parameters'.split())",
    "a function": "print",
    "a generator": "(i for i in range(3))",
    "its arguments": "args",
    "an error": "1 / 0",
    "a wrong call of what it got": "args[0]('x', None, 3)",
}


def answering(function: str, expression: str) -> str:
    return f"def {function}(*args, **kwargs):\n    return {expression}\n"


def test_every_function_of_the_exercises_has_checks_enough() -> None:
    collected = [check for check in collect.checks("lab07") if check.declared.notebook == EXERCISES.name]
    declarations = [check.declared for check in collected]
    counts = Counter(declared.function for declared in declarations)
    assert {declared.function: declared.task for declared in declarations} == FUNCTIONS
    assert EXERCISES.task_of == FUNCTIONS
    assert set(ASKED[EXERCISES.name]) == set(FUNCTIONS)
    assert min(counts.values()) >= 4
    titles = [check.title for check in collected]
    assert len(set(titles)) == len(titles)
    assert all(title.endswith(".") for title in titles)


@pytest.mark.parametrize("task", TASKS)
def test_the_solution_passes_every_check(task: str) -> None:
    found = EXERCISES.outcomes(task)
    assert len(found) >= 4
    assert lost(found) == {}


@pytest.mark.parametrize("variant", RIGHT, ids=[f"{v['task']}, {v['title']}" for v in RIGHT])
def test_a_right_answer_in_other_words_loses_nothing(variant: dict[str, str]) -> None:
    assert lost(EXERCISES.outcomes(variant["task"], variant["source"])) == {}


@pytest.mark.parametrize("task", TASKS)
def test_the_skeleton_earns_nothing(task: str) -> None:
    found = EXERCISES.outcomes(task, notebook=EXERCISES.handed_out())
    assert {outcome.verdict for outcome in found.values()} <= set(LOST)


@pytest.mark.parametrize("function", COPIED)
def test_a_copied_number_earns_its_own_case_at_most(function: str) -> None:
    found = EXERCISES.outcomes(FUNCTIONS[function], answering(function, COPIED[function]))
    own = {name for name, outcome in found.items() if name.startswith(f"{function}.") and outcome.verdict == "passed"}
    assert own <= {f"{function}.chapter"}


@pytest.mark.parametrize("first", range(0, len(STRANGE), 4))
@pytest.mark.parametrize("function", FUNCTIONS)
def test_strange_answers_earn_nothing_and_upset_nothing(function: str, first: int) -> None:
    # One after the other, a new one at every call, so that each check meets several of them.
    answers = ", ".join(f"lambda args: {expression}" for expression in STRANGE.values())
    source = (
        f"answers, asked = [{answers}], {first}\n"
        + f"""
def {function}(*args, **kwargs):
    global asked
    asked += 1
    return answers[asked % len(answers)](args)
"""
    )
    for name, outcome in EXERCISES.outcomes(FUNCTIONS[function], source).items():
        if name.startswith(f"{function}."):
            assert outcome.verdict in LOST, (name, outcome.message)


@pytest.mark.soak
def test_messages_are_sentences_that_give_no_hidden_number_away() -> None:
    for function, task in FUNCTIONS.items():
        for expression in ("0.123", "{}", "[1.0]", "np.zeros(3)"):
            for name, message in lost(EXERCISES.outcomes(task, answering(function, expression))).items():
                assert message, name
                assert message.rstrip()[-1] in ".!?`…", message
                assert not re.search(r"\d\.\d{5,}", message), message
                assert "Error" not in message, message


def test_no_check_uses_a_helper_of_another_room() -> None:
    folder = collect.folder("lab07")
    for path in folder.glob("test_exercise*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith(("attnlab", "autograder.suspects")), path
