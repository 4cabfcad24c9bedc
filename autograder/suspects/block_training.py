"""Mistakes of part 8 of ``block_receipts``: what training takes, and what was forgotten in it."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import suspect

TRAIN = "training"
STATE = "the article, section 6, Training: the same model"
BUDGET = "the article, section 6, The two costs nobody budgets for"
RUN = "the article, section 6, Why pretraining is a different question"


@suspect(
    "master_copy_forgotten", task=TRAIN, hint="The copy of the weights in single precision is missing.", read=STATE
)
def training_bytes(parameters):
    return 12 * parameters


@suspect(
    "gradients_forgotten",
    task=TRAIN,
    hint="The gradients are missing: they wait until the optimizer's step.",
    read=STATE,
)
def training_bytes(parameters):
    return 14 * parameters


@suspect("moments_forgotten", task=TRAIN, hint="The moments of the optimizer are missing.", read=STATE)
def training_bytes(parameters):
    return 8 * parameters


@suspect(
    "weights_and_gradients_only",
    task=TRAIN,
    hint="Only weights and gradients are counted, without what the optimizer keeps.",
    read=STATE,
)
def training_bytes(parameters):
    return 4 * parameters


@suspect(
    "gradients_in_single_precision",
    task=TRAIN,
    hint="The gradients take four bytes here, and two in this recipe.",
    read=STATE,
)
def training_bytes(parameters):
    return 18 * parameters


@suspect(
    "everything_in_single_precision",
    task=TRAIN,
    hint="Everything takes four bytes here, and weights and gradients take two.",
    read=STATE,
)
def training_bytes(parameters):
    return 20 * parameters


@suspect(
    "saved_for_one_block",
    task=TRAIN,
    hint="The saved tensor of one block is counted, and every block keeps one.",
    read=BUDGET,
)
def activation_bytes(layers, n, d_model, batch=1, itemsize=2):
    return batch * n * d_model * itemsize


@suspect(
    "activations_quadratic",
    task=TRAIN,
    hint="The saved tensor is tokens by width, and here it is tokens by tokens.",
    read=BUDGET,
)
def activation_bytes(layers, n, d_model, batch=1, itemsize=2):
    return layers * batch * n * n * itemsize


@suspect("activations_of_one_sequence", task=TRAIN, hint="The batch has no effect on what is saved.", read=BUDGET)
def activation_bytes(layers, n, d_model, batch=1, itemsize=2):
    return layers * n * d_model * itemsize


@suspect(
    "activations_in_single_precision",
    task=TRAIN,
    hint="Without a word about it, a saved number takes two bytes.",
    read=BUDGET,
)
def activation_bytes(layers, n, d_model, batch=1, itemsize=4):
    return layers * batch * n * d_model * itemsize


@suspect("activation_bytes_fixed", task=TRAIN, hint="The bytes of a saved number are written in.", read=BUDGET)
def activation_bytes(layers, n, d_model, batch=1, itemsize=2):
    return 2 * layers * batch * n * d_model


@suspect(
    "both_sublayers_saved",
    task=TRAIN,
    hint="Two tensors a block are counted, and with checkpointing it is its input alone.",
    read=BUDGET,
)
def activation_bytes(layers, n, d_model, batch=1, itemsize=2):
    return 2 * layers * batch * n * d_model * itemsize


@suspect(
    "inner_tensors_saved",
    task=TRAIN,
    hint="The wide tensor of the feed-forward layer is counted, which is thrown away and computed again.",
    read=BUDGET,
)
def activation_bytes(layers, n, d_model, batch=1, itemsize=2):
    return layers * batch * n * 4 * d_model * itemsize


@suspect(
    "last_position_only",
    task=TRAIN,
    hint="The scores of one position are counted, and training scores every position.",
    read=BUDGET,
)
def logits_bytes(n, vocab, batch=1, itemsize=4):
    return batch * vocab * itemsize


@suspect("logits_in_half_precision", task=TRAIN, hint="Without a word about it, a logit takes four bytes.", read=BUDGET)
def logits_bytes(n, vocab, batch=1, itemsize=2):
    return batch * n * vocab * itemsize


@suspect("logits_of_one_sequence", task=TRAIN, hint="The batch has no effect on the logits.", read=BUDGET)
def logits_bytes(n, vocab, batch=1, itemsize=4):
    return n * vocab * itemsize


@suspect("logits_bytes_fixed", task=TRAIN, hint="The bytes of a logit are written in.", read=BUDGET)
def logits_bytes(n, vocab, batch=1, itemsize=4):
    return 4 * batch * n * vocab


@suspect(
    "logits_quadratic",
    task=TRAIN,
    hint="The logits are words by positions, and here positions count twice.",
    read=BUDGET,
)
def logits_bytes(n, vocab, batch=1, itemsize=4):
    return batch * n * n * vocab * itemsize


@suspect("forward_only", task=TRAIN, hint="Only the forward pass is counted.", read=STATE)
def training_flops(parameters, tokens):
    return 2 * parameters * tokens


@suspect(
    "training_macs", task=TRAIN, hint="A multiplication and an addition count as one in the training run.", read=STATE
)
def training_flops(parameters, tokens):
    return 3 * parameters * tokens


@suspect(
    "backward_as_cheap_as_forward",
    task=TRAIN,
    hint="The backward pass costs as much here as the forward one, and it costs twice that.",
    read=STATE,
)
def training_flops(parameters, tokens):
    return 4 * parameters * tokens


@suspect("forward_run_again", task=TRAIN, hint="A second forward pass for checkpointing is counted.", read=BUDGET)
def training_flops(parameters, tokens):
    return 8 * parameters * tokens


@suspect(
    "tokens_by_rule",
    task=TRAIN,
    hint="The number of tokens is taken from a rule, and it is an argument.",
    read="7.8, Scaling laws and what they predict",
)
def training_flops(parameters, tokens):
    return 6 * parameters * 20 * parameters


@suspect("hours_in_days", task=TRAIN, hint="These are days, and years are asked.", read=RUN)
def gpu_years(gpu_hours):
    return gpu_hours / 24


@suspect("days_for_hours", task=TRAIN, hint="The hours are taken for days.", read=RUN)
def gpu_years(gpu_hours):
    return gpu_hours / 365.25


@suspect("working_years", task=TRAIN, hint="A year has fewer hours here than it has.", read=RUN)
def gpu_years(gpu_hours):
    return gpu_hours / (24 * 360)


@suspect("whole_years_only", task=TRAIN, hint="The years are cut to whole ones.", read=RUN)
def gpu_years(gpu_hours):
    return gpu_hours // 8766


@suspect(
    "years_in_hours", task=TRAIN, hint="The hours are multiplied, where they are divided by those of a year.", read=RUN
)
def gpu_years(gpu_hours):
    return gpu_hours * 8766
