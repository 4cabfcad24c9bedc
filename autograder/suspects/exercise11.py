"""Mistakes of ``training_flops``: the factor, the arguments, and the unit."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect

TASK = "exercise11"
LAWS = "7.8, Scaling laws and what they predict"
EXERCISE = "7.13, exercise 11"


@suspect(
    "forward_pass_only",
    task=TASK,
    hint="The forward pass alone is counted; the backward pass takes twice as much again.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return 2 * parameters * tokens


@suspect(
    "backward_pass_only",
    task=TASK,
    hint="The backward pass alone is counted; the forward pass comes before it.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return 4 * parameters * tokens


@suspect(
    "macs_for_flops",
    task=TASK,
    hint="A multiplication with its addition is counted once; as operations they are two.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return 3 * parameters * tokens


@suspect(
    "training_without_factor",
    task=TASK,
    hint="Parameters are multiplied by tokens, and nothing is said of the operations for each.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return parameters * tokens


@suspect(
    "training_factor_too_large",
    task=TASK,
    hint="More operations are counted for each parameter and token than the rule has.",
    read=LAWS,
    also=(
        ("8 *", "12 *"),
        ("8 *", "10 *"),
    ),
)
def training_flops(parameters, tokens):
    return 8 * parameters * tokens


@suspect(
    "tokens_by_rule",
    task=TASK,
    hint="The tokens are taken from a rule about the parameters, whichever are given.",
    read=EXERCISE,
    also=(("* 20 * parameters", "* 1.1 * parameters"),),
)
def training_flops(parameters, tokens):
    return 6 * parameters * 20 * parameters


@suspect(
    "training_tokens_forgotten",
    task=TASK,
    hint="The number of tokens has no effect on the answer.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return 6 * parameters


@suspect(
    "training_parameters_forgotten",
    task=TASK,
    hint="The number of parameters has no effect on the answer.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return 6 * tokens


@suspect(
    "training_sum",
    task=TASK,
    hint="Parameters and tokens are added where they should be multiplied.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return 6 * (parameters + tokens)


@suspect(
    "training_squared",
    task=TASK,
    hint="One of the two arguments counts twice.",
    read=LAWS,
    also=(("* tokens**2", "* tokens * parameters"),),
)
def training_flops(parameters, tokens):
    return 6 * parameters * tokens**2


@suspect(
    "training_tokens_per_parameter",
    task=TASK,
    hint="Tokens are divided by parameters; that is the ratio of the exercise, not the compute.",
    read=EXERCISE,
    also=(
        ("tokens / parameters", "6 * tokens / parameters"),
        ("tokens / parameters", "6 * parameters / tokens"),
        ("tokens / parameters", "parameters / tokens"),
    ),
)
def training_flops(parameters, tokens):
    return tokens / parameters


@suspect(
    "training_in_large_units",
    task=TASK,
    hint="The answer is in a larger unit; single operations are asked.",
    read=EXERCISE,
    also=(
        ("1e21", "1e23"),
        ("1e21", "1e12"),
        ("1e21", "1e15"),
        ("1e21", "1e18"),
        ("1e21", "8.64e19"),
    ),
)
def training_flops(parameters, tokens):
    return 6 * parameters * tokens / 1e21


@suspect(
    "training_same_budget",
    task=TASK,
    hint="The same compute is given for every model.",
    read=EXERCISE,
    also=(
        ("5.04e23", "5.76e23"),
        ("5.04e23", "5.88e23"),
    ),
)
def training_flops(parameters, tokens):
    return 5.04e23


@suspect(
    "training_integer_overflow",
    task=TASK,
    hint="Large products wrap around, because the integers are too narrow for them.",
    read=LAWS,
)
def training_flops(parameters, tokens):
    return int(np.prod(np.array([6, parameters, tokens], dtype=np.int64)))


@suspect(
    "training_rounded",
    task=TASK,
    hint="Digits are missing at the end: the product is rounded.",
    read=EXERCISE,
    also=(
        (".2e", ".3e"),
        (".2e", ".1e"),
        (".2e", ".0e"),
    ),
)
def training_flops(parameters, tokens):
    return float(f"{6 * parameters * tokens:.2e}")
