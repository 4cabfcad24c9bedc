"""The hidden checks of ``block_receipts``: right answers lose nothing, and what is copied or made up earns nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from autograder.checks import collect
from autograder.suspects.probes import ASKED
from tests.filled_in import BLOCK, LOST, lost

OF_EACH_PART = pytest.mark.parametrize("task", BLOCK.tasks)
RIGHT = BLOCK.cases("right.toml")

#: Numbers in print, as somebody would copy them; what is not in print is answered with the first of them.
COPIED = {
    "attention_params": "{32: 67_108_864, 8: 41_943_040}.get(args[2], 41_943_040)",
    "ffn_params": "{768: 4_718_592, 4096: 176_160_768}.get(args[0], 176_160_768)",
    "model_params": "124_439_808 if args[0]['vocab'] == 50257 else 7_504_924_672 if args[0]['tied'] else 8_030_261_248",
    "ffn_share": "2 / 3 if args[0]['ffn_matrices'] == 2 else 0.8076923076923077",
    "attention_flops": "17_179_869_184",
    "projection_flops": "137_438_953_472 if args[3] == 32 else 85_899_345_920",
    "score_matrix_bytes": "{1024: 128 * 2**20, 8192: 8 * 2**30, 32768: 128 * 2**30}.get(args[0], 2 * 2**40)",
    "attention_share": "{(4608, 768): 0.5, (4096, 4096): 1 / 7}.get(args, 0.5)",
    "kv_bytes_per_token": "524_288 if args[1] == 32 else 131_072",
    "concurrent_sequences": "{8192: 54, 32768: 13}.get(args[1], 3)",
    "roofline_tokens_per_second": "(19427.14819, 127.02366) if args[2] == 312e12 else (61643.83562, 208.59278)",
    "max_context": "17_166 if args[4] == 64 else 137_329",
    "training_bytes": "128_480_000_000",
    "activation_bytes": "1_073_741_824",
    "logits_bytes": "2_101_346_304",
    "training_flops": "7.227e23",
    "gpu_years": "148.30025",
    "kv_table": "{'mha': 52_428_800_000, 'gqa': 13_107_200_000, 'mqa': 1_638_400_000}",
    "moe_params": "(36_507_222_016, 10_737_418_240)",
    "two_key_weight": "{1.0: 0.7310585786, 2.0: 0.8807970780}.get(args[0], 0.9820137900)",
    "rope_periods": "[6.283185307, 62.83185307, 628.3185307, 6283.185307, 54410.14313]",
    "alibi_slopes": "[0.5**i for i in range(1, 9)]",
    "alibi_bias": "[[-0.5 * (i - j) if j <= i else -np.inf for j in range(6)] for i in range(6)]",
}

#: What a submission may give back instead of an answer.
STRANGE = (
    *(
        "None",
        "'an answer'",
        "[]",
        "{}",
        "True",
        "False",
        "0",
        "1.0",
        "-1",
        "float('nan')",
        "-float('inf')",
        "10**4000",
    ),
    *(
        "1 + 2j",
        "{1, 2}",
        "print",
        "(i for i in range(3))",
        "np.array(['a', 'b'])",
        "np.array([{}, None], dtype=object)",
    ),
    *("np.zeros((1,) * 12)", "np.zeros((3, 3))", "[[1, 2], [3]]", "(0.0, 0.0)", "(None, {})", "[{'logit_std': None}]"),
    *(
        "args",
        "args[-1]",
        "(args[0], args[0])",
        "1 / 0",
        "args[0](None)",
        "dict.fromkeys('weights mha output gqa'.split())",
    ),
)


def answering(function: str, expression: str) -> str:
    return f"def {function}(*args, **kwargs):\n    return {expression}\n"


def test_every_function_has_checks_and_probes_and_no_two_checks_say_the_same() -> None:
    collected = [check for check in collect.checks("lab07") if check.declared.notebook == BLOCK.name]
    declarations = [check.declared for check in collected]
    counts = Counter(declared.function for declared in declarations)
    assert {declared.function: declared.task for declared in declarations} == BLOCK.task_of
    assert list(dict.fromkeys(declared.task for declared in declarations)) == list(BLOCK.tasks)
    assert set(ASKED[BLOCK.name]) == set(BLOCK.task_of)
    # Three products of one number have one property and a number in print.
    assert {name for name, times in counts.items() if times < 3} == {"training_bytes", "training_flops", "gpu_years"}
    titles = [check.title for check in collected]
    assert len(set(titles)) == len(titles) >= 190
    assert all(title.endswith(".") for title in titles)


@OF_EACH_PART
def test_the_solution_passes_every_check(task: str) -> None:
    assert lost(BLOCK.outcomes(task)) == {}


@pytest.mark.parametrize("variant", RIGHT, ids=[f"{v['task']}, {v['title']}" for v in RIGHT])
def test_a_right_answer_in_other_words_loses_nothing(variant: dict[str, str]) -> None:
    assert lost(BLOCK.outcomes(variant["task"], variant["source"])) == {}


def test_every_part_has_right_answers_in_other_words() -> None:
    assert {variant["task"] for variant in RIGHT} == set(BLOCK.tasks)


@OF_EACH_PART
def test_the_skeleton_earns_nothing(task: str) -> None:
    assert {outcome.verdict for outcome in BLOCK.outcomes(task, notebook=BLOCK.handed_out()).values()} <= set(LOST)


@pytest.mark.parametrize("function", COPIED)
def test_a_copied_number_earns_nothing(function: str) -> None:
    found = BLOCK.outcomes(BLOCK.task_of[function], answering(function, COPIED[function]))
    assert [
        name for name, outcome in found.items() if outcome.function == function and outcome.verdict == "passed"
    ] == []


@pytest.mark.parametrize("first", range(0, len(STRANGE), 6))
@OF_EACH_PART
def test_strange_answers_earn_nothing_and_upset_nothing(task: str, first: int) -> None:
    # One after the other, a new one at every call, so that each check meets several of them.
    answers = ", ".join(f"lambda args: {expression}" for expression in STRANGE)
    source = f"answers, asked = [{answers}], [{first}]\n"
    for function in BLOCK.tasks[task].functions:
        source += f"""
def {function}(*args, **kwargs):
    asked[0] += 1
    return answers[asked[0] % len(answers)](args)
"""
    for name, outcome in BLOCK.outcomes(task, source).items():
        assert outcome.verdict in LOST, (name, outcome.message)


@OF_EACH_PART
def test_messages_are_sentences_that_give_no_hidden_number_away(task: str) -> None:
    for expression in ("0.123", "{}", "[1.0]", "np.zeros(3)", "(0.5, 0.5)"):
        source = "".join(answering(function, expression) for function in BLOCK.tasks[task].functions)
        for name, message in lost(BLOCK.outcomes(task, source)).items():
            assert message, name
            assert message.rstrip()[-1] in ".!?`…", message
            assert not re.search(r"\d\.\d{6,}", message), message
            assert "Error" not in message, message


def test_no_check_uses_a_part_of_another_room() -> None:
    for path in collect.folder("lab07").glob("*block*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith(("attnlab", "autograder.suspects")), path
