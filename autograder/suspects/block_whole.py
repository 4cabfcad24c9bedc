"""Mistakes of part 4 of ``block_receipts``: norms and residuals of the block as a whole."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import suspect
from autograder.suspects.right_block import ffn_relu, layer_norm, multi_head

WHOLE = "whole_block"
BLOCK = "7.3, The whole block"
NORM = "7.3, Layer normalisation, and why it moved to the front"


@suspect(
    "block_with_post_norm",
    task=WHOLE,
    hint="The norms stand on the stream after each sum, which is post-norm; in pre-norm they are on the branch.",
    read=NORM,
)
def block(x, params, mask=None):
    one = layer_norm(x + multi_head(x, params["heads"], params["W_o"], mask=mask)["output"])
    return layer_norm(one + ffn_relu(one, params["W1"], params["b1"], params["W2"], params["b2"]))


@suspect(
    "attention_not_added_back",
    task=WHOLE,
    hint="What attention gives replaces the stream, where it is added to it.",
    read=BLOCK,
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    one = multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"]
    return one + ffn_relu(layer_norm(one), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "feed_forward_not_added_back",
    task=WHOLE,
    hint="What the feed-forward layer gives replaces the stream, where it is added to it.",
    read=BLOCK,
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    one = x + multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"]
    return ffn_relu(layer_norm(one), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "sublayer_output_normalised",
    task=WHOLE,
    hint="The feed-forward layer reads what attention added alone, where the sum of it and the stream belongs.",
    read=NORM,
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    added = multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"]
    return x + added + ffn_relu(layer_norm(added), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "both_sublayers_read_x",
    task=WHOLE,
    hint="The feed-forward layer reads what came into the block, and not what attention made of it.",
    read=BLOCK,
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    one = x + multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"]
    return one + ffn_relu(layer_norm(x), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "feed_forward_not_normalised",
    task=WHOLE,
    hint="The feed-forward layer reads the stream as it is, without the norm before it.",
    read=NORM,
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    one = x + multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"]
    return one + ffn_relu(one, params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "first_norm_never",
    task=WHOLE,
    hint="Attention never sees a normalised stream, also where the parameters ask for it.",
    read=NORM,
)
def block(x, params, mask=None):
    one = x + multi_head(x, params["heads"], params["W_o"], mask=mask)["output"]
    return one + ffn_relu(layer_norm(one), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "first_norm_always",
    task=WHOLE,
    hint="Attention always sees a normalised stream, and the chapter's example does without.",
    read=NORM,
)
def block(x, params, mask=None):
    one = x + multi_head(layer_norm(x), params["heads"], params["W_o"], mask=mask)["output"]
    return one + ffn_relu(layer_norm(one), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "second_residual_from_the_norm",
    task=WHOLE,
    hint="The last sum starts from the normalised stream, where the stream itself passes by.",
    read=NORM,
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    one = layer_norm(x + multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"])
    return one + ffn_relu(one, params["W1"], params["b1"], params["W2"], params["b2"])


@suspect("block_mask_ignored", task=WHOLE, hint="The mask does not reach the heads.", read=BLOCK)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    one = x + multi_head(seen, params["heads"], params["W_o"])["output"]
    return one + ffn_relu(layer_norm(one), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "heads_added_without_mixing",
    task=WHOLE,
    hint="The heads' outputs are added to the stream without the matrix that mixes them.",
    read="7.3, Concatenate, then project",
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    heads = multi_head(seen, params["heads"], params["W_o"], mask=mask)["concatenated"]
    one = x + np.resize(heads, x.shape)
    return one + ffn_relu(layer_norm(one), params["W1"], params["b1"], params["W2"], params["b2"])


@suspect(
    "block_in_place", task=WHOLE, hint="The array of the caller is changed: the sum is written into it.", read=BLOCK
)
def block(x, params, mask=None):
    seen = layer_norm(x) if params["norm_first"] else x
    x += multi_head(seen, params["heads"], params["W_o"], mask=mask)["output"]
    x += ffn_relu(layer_norm(x), params["W1"], params["b1"], params["W2"], params["b2"])
    return x
