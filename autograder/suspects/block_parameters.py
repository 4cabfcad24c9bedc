"""Mistakes of part 5 of ``block_receipts``: parameters that are forgotten, or counted twice."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

from autograder.suspects.registry import same_mistake, suspect

COUNT = "parameters"
PARAMETERS = "7.3, Where the parameters actually live"
GROUPED = "the article, section 7, What changes with grouped-query attention"
SHARE = "the article, section 9, Who gets the parameters?"
TABLES = "the article, section 13, The last two boxes"


@suspect("kv_heads_ignored", task=COUNT, hint="Keys and values have as many heads here as the queries.", read=GROUPED)
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    return 4 * d_model * n_heads * head_dim


@suspect(
    "every_projection_narrowed",
    task=COUNT,
    hint="All four matrices have the width of the KV heads, and only those of keys and values do.",
    read=GROUPED,
)
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    return 4 * d_model * n_kv_heads * head_dim


@suspect("output_matrix_not_counted", task=COUNT, hint="The output projection is a matrix too.", read=PARAMETERS)
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    return d_model * head_dim * (n_heads + 2 * n_kv_heads)


@suspect(
    "one_of_keys_and_values",
    task=COUNT,
    hint="Keys and values have a matrix each, and one of the two is missing.",
    read=PARAMETERS,
)
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    return d_model * head_dim * (2 * n_heads + n_kv_heads)


@suspect(
    "heads_as_wide_as_the_model",
    task=COUNT,
    hint="All heads together are taken to be as wide as the model, which is a convention and no law.",
    read=PARAMETERS,
)
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    return 2 * d_model**2 + 2 * d_model**2 * n_kv_heads // n_heads


@same_mistake("heads_as_wide_as_the_model")
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    return 4 * d_model**2


@suspect(
    "attention_biases_counted",
    task=COUNT,
    hint="Biases are in the count, and only the matrices are asked.",
    read=PARAMETERS,
)
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    weights = 2 * d_model * head_dim * (n_heads + n_kv_heads)
    return weights + (n_heads + 2 * n_kv_heads) * head_dim + d_model


@suspect(
    "only_one_head_counted",
    task=COUNT,
    hint="Only one head is counted.",
    read=PARAMETERS,
)
def attention_params(d_model, n_heads, n_kv_heads, head_dim):
    return 4 * d_model * head_dim


@suspect(
    "inner_width_fixed",
    task=COUNT,
    hint="The inner width is taken to be four times the model's, and it is an argument.",
    read=PARAMETERS,
)
def ffn_params(d_model, d_ff, matrices=2):
    return 4 * matrices * d_model**2


@suspect(
    "third_matrix_forgotten",
    task=COUNT,
    hint="There are always two matrices here, and a gated layer has three.",
    read="7.3, Why four times as wide?",
)
def ffn_params(d_model, d_ff, matrices=2):
    return 2 * d_model * d_ff


@suspect("always_three_matrices", task=COUNT, hint="There are always three matrices here.", read=PARAMETERS)
def ffn_params(d_model, d_ff, matrices=2):
    return 3 * d_model * d_ff


@suspect(
    "ffn_biases_counted",
    task=COUNT,
    hint="Biases are in the count of the feed-forward layer, and only the matrices are asked.",
    read=PARAMETERS,
)
def ffn_params(d_model, d_ff, matrices=2):
    return matrices * d_model * d_ff + (matrices - 1) * d_ff + d_model


@suspect(
    "one_matrix_counted", task=COUNT, hint="One matrix is counted, where every one of them counts.", read=PARAMETERS
)
def ffn_params(d_model, d_ff, matrices=2):
    return d_model * d_ff


@suspect("positions_not_counted", task=COUNT, hint="The table of learned positions is left out.", read=PARAMETERS)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    norm = 2 * d if config["norm"] == "layer" else d
    return config["vocab"] * (1 if config["tied"] else 2) * d + config["layers"] * (one + 2 * norm) + norm


@suspect(
    "tied_tables_counted_twice",
    task=COUNT,
    hint="A shared table is counted twice.",
    read=TABLES,
)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    norm = 2 * d if config["norm"] == "layer" else d
    return (2 * config["vocab"] + config["positions"]) * d + config["layers"] * (one + 2 * norm) + norm


@suspect(
    "output_table_not_counted",
    task=COUNT,
    hint="The output has a table of its own unless it is tied, and it is missing.",
    read=TABLES,
)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    norm = 2 * d if config["norm"] == "layer" else d
    return (config["vocab"] + config["positions"]) * d + config["layers"] * (one + 2 * norm) + norm


@suspect(
    "tied_the_other_way_round",
    task=COUNT,
    hint="Tied and untied are exchanged.",
    read=TABLES,
)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (2 if config["tied"] else 1) + config["positions"]
    return tables * d + config["layers"] * (one + 2 * norm) + norm


@suspect("last_norm_not_counted", task=COUNT, hint="The norm after the last block is missing.", read=PARAMETERS)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + config["layers"] * (one + 2 * norm)


@suspect(
    "norms_not_counted", task=COUNT, hint="The norms are left out, and their parameters count too.", read=PARAMETERS
)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + config["layers"] * one


@suspect("one_norm_a_block", task=COUNT, hint="A block has two norms, and one is counted.", read=PARAMETERS)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + config["layers"] * (one + norm) + norm


@suspect(
    "shift_of_layer_norm_not_counted",
    task=COUNT,
    hint="Layer norm has a scale and a shift, and only the scale is counted.",
    read="7.3, Layer normalisation, and why it moved to the front",
)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + config["layers"] * (one + 2 * d) + d


@suspect("biases_not_counted", task=COUNT, hint="The biases are left out where the model has them.", read=PARAMETERS)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    one = 2 * d * config["head_dim"] * (q + kv) + m * d * f
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + config["layers"] * (one + 2 * norm) + norm


@suspect(
    "biases_as_wide_as_the_model",
    task=COUNT,
    hint="Every bias is as wide as the model here, and a bias is as wide as what its matrix gives.",
    read=PARAMETERS,
)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += 4 * d + m * d
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + config["layers"] * (one + 2 * norm) + norm


@suspect(
    "gate_bias_not_counted",
    task=COUNT,
    hint="In a gated layer the gate has a bias too, as wide as the inner layer.",
    read=PARAMETERS,
)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + f + d
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + config["layers"] * (one + 2 * norm) + norm


@suspect("one_block_counted", task=COUNT, hint="The model has one block here, whatever its depth.", read=PARAMETERS)
def model_params(config):
    d, q, kv, f, m = (config[k] for k in ("d_model", "n_heads", "n_kv_heads", "d_ff", "ffn_matrices"))
    w = config["head_dim"]
    one = 2 * d * w * (q + kv) + m * d * f
    if config["biases"]:
        one += (q + 2 * kv) * w + d + (m - 1) * f + d
    norm = 2 * d if config["norm"] == "layer" else d
    tables = config["vocab"] * (1 if config["tied"] else 2) + config["positions"]
    return tables * d + one + 3 * norm


@suspect(
    "rule_of_thumb",
    task=COUNT,
    hint="This is the rule of thumb for one shape of block, and an exact count of any shape is asked.",
    read=PARAMETERS,
)
def model_params(config):
    d = config["d_model"]
    return (config["vocab"] + config["positions"]) * d + config["layers"] * 12 * d**2


@suspect("ffn_share_in_percent", task=COUNT, hint="A share is a number up to one, and this is in percent.", read=SHARE)
def ffn_share(config):
    ffn = config["ffn_matrices"] * config["d_model"] * config["d_ff"]
    attention = 2 * config["d_model"] * config["head_dim"] * (config["n_heads"] + config["n_kv_heads"])
    return 100 * ffn / (ffn + attention)


@suspect(
    "ffn_over_attention",
    task=COUNT,
    hint="This is how many times larger one part is than the other, and a share of both is asked.",
    read=SHARE,
)
def ffn_share(config):
    ffn = config["ffn_matrices"] * config["d_model"] * config["d_ff"]
    return ffn / (2 * config["d_model"] * config["head_dim"] * (config["n_heads"] + config["n_kv_heads"]))


@suspect(
    "attention_share_of_parameters", task=COUNT, hint="This is the share of attention, the rest of one.", read=SHARE
)
def ffn_share(config):
    ffn = config["ffn_matrices"] * config["d_model"] * config["d_ff"]
    attention = 2 * config["d_model"] * config["head_dim"] * (config["n_heads"] + config["n_kv_heads"])
    return attention / (ffn + attention)


@suspect(
    "share_of_full_width_attention",
    task=COUNT,
    hint="Attention has its full width here, and fewer KV heads make it smaller.",
    read=PARAMETERS,
)
def ffn_share(config):
    ffn = config["ffn_matrices"] * config["d_model"] * config["d_ff"]
    return ffn / (ffn + 4 * config["d_model"] * config["head_dim"] * config["n_heads"])


@suspect(
    "share_with_two_matrices",
    task=COUNT,
    hint="The gate's matrix is not in the share.",
    read=SHARE,
)
def ffn_share(config):
    ffn = 2 * config["d_model"] * config["d_ff"]
    return ffn / (ffn + 2 * config["d_model"] * config["head_dim"] * (config["n_heads"] + config["n_kv_heads"]))


@suspect(
    "share_of_the_whole_model",
    task=COUNT,
    hint="The tables of the model are in the share, and it is about one block.",
    read=PARAMETERS,
)
def ffn_share(config):
    d = config["d_model"]
    ffn = config["layers"] * config["ffn_matrices"] * d * config["d_ff"]
    attention = config["layers"] * 2 * d * config["head_dim"] * (config["n_heads"] + config["n_kv_heads"])
    return ffn / (ffn + attention + config["vocab"] * d + config["positions"] * d)
