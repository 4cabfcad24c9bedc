"""The numbers of the worked example, as the chapter prints them (sections 7.2 to 7.4), and the shapes of real models.

``PRINTED`` has the tables with the digits that are on the page, 2 or 4 of them, so compare with a tolerance
of 6e-5. All arrays are float64 and read-only: copy one before you change it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def _table(*rows: list[float]) -> Array:
    table = np.array(rows, dtype=np.float64)
    table.flags.writeable = False
    return table


#: The sentence, one row of ``X`` each.
TOKENS = ("kedi", "sütü", "içti")

#: Embeddings ``(3, 4)``: animate, liquid, action, always-on.
X = _table([0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5])

#: Projections ``(4, 2)``, so ``d_k = d_v = 2``.
W_Q = _table([2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0])
W_K = _table([1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0])
W_V = _table([1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.2, 0.2])

#: The second head of section 7.3 (which verb governs me): ``W_q``, ``W_k``, ``W_v``, each ``(4, 2)``.
HEAD_2 = (
    _table([2.5, 0.0], [2.5, 0.0], [0.0, 2.5], [0.0, 0.0]),
    _table([0.0, 1.6], [0.0, 1.6], [2.0, 0.0], [0.0, 0.0]),
    _table([0.0, 0.6], [0.0, 0.6], [1.0, 0.0], [0.0, 0.0]),
)

#: Mixes the two concatenated heads back into the four dimensions (7.3).
W_O = _table([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.2, 0.2, 0.0, 0.0])

#: The eight detectors of the feed-forward layer (7.3), in the order of the columns of ``W_1``.
DETECTORS = (
    "animate + action",
    "liquid + action",
    "animate + liquid",
    "animate only",
    "liquid only",
    "action only",
    "any noun",
    "constant",
)

#: ``W_1 (4, 8)``, ``B_1 (8,)``, ``W_2 (8, 4)``, ``B_2 (4,)`` of that layer.
W_1 = _table(
    [1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.5, 0.0],
    [0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.5, 0.0],
    [1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
)
B_1 = _table([-0.9, -0.9, -0.9, -0.5, -0.5, -0.5, -0.5, -0.5])[0]
W_2 = _table(
    [0.4, 0.0, 0.5, 0.0],
    [0.0, 0.4, 0.5, 0.0],
    [0.4, 0.4, 0.0, 0.0],
    [0.3, 0.0, 0.0, 0.0],
    [0.0, 0.3, 0.0, 0.0],
    [0.0, 0.0, 0.3, 0.0],
    [0.15, 0.15, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.0],
)
B_2 = _table([0.0, 0.0, 0.0, 0.0])[0]

#: The shuffled order of section 7.4: içti kedi sütü.
ORDER = (2, 0, 1)

#: How far a printed table may be from the exact values.
PRINTED_TOLERANCE = 6e-5

#: The tables of section 7.2, by the names that ``worked_example`` uses, the positions of 7.4 for d = 4, and the
#: tables of 7.3 from ``head_2_weights`` on; ``detectors`` has a row for each detector.
PRINTED: dict[str, Array] = {
    "queries": _table([1.80, 0.20], [0.20, 1.80], [1.80, 2.00]),
    "keys": _table([1.35, 0.15], [0.15, 1.35], [0.00, 0.15]),
    "values": _table([1.00, 0.20], [0.20, 1.00], [0.10, 0.20]),
    "scores": _table([2.46, 0.54, 0.03], [0.54, 2.46, 0.27], [2.73, 2.97, 0.30]),
    "scaled_scores": _table([1.7395, 0.3818, 0.0212], [0.3818, 1.7395, 0.1909], [1.9304, 2.1001, 0.2121]),
    "weights": _table([0.6961, 0.1791, 0.1249], [0.1750, 0.6804, 0.1446], [0.4230, 0.5012, 0.0759]),
    "output": _table([0.7444, 0.3433], [0.3256, 0.7443], [0.5308, 0.6009]),
    "positions": _table([0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0100, 1.0000], [0.9093, -0.4161, 0.0200, 0.9998]),
    "head_2_weights": _table([0.0383, 0.0383, 0.9234], [0.0383, 0.0383, 0.9234], [0.4675, 0.4675, 0.0650]),
    "concatenated": _table(
        [0.7444, 0.3433, 0.8310, 0.1014], [0.3256, 0.7443, 0.8310, 0.1014], [0.5308, 0.6009, 0.0585, 0.5649]
    ),
    "projected": _table(
        [0.7646, 0.3635, 0.8310, 0.0000], [0.3458, 0.7646, 0.8310, 0.0000], [0.6438, 0.7139, 0.0585, 0.0000]
    ),
    "residual": _table(
        [1.6646, 0.4635, 0.8310, 0.5000], [0.4458, 1.6646, 0.8310, 0.5000], [0.6438, 0.8139, 0.9585, 0.5000]
    ),
    "layer_norm": _table(
        [1.6543, -0.8299, -0.0699, -0.7545], [-0.8509, 1.6508, -0.0602, -0.7397], [-0.4932, 0.4908, 1.3268, -1.3244]
    ),
    "detectors": _table(
        [0.6845, 0.0, 0.0],
        [0.0, 0.6906, 0.9176],
        [0.0, 0.0, 0.0],
        [1.1543, 0.0, 0.0],
        [0.0, 1.1508, 0.0],
        [0.0, 0.0, 0.8268],
        [0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
    ),
    "block": _table([2.2847, 0.4635, 1.1733, 0.5], [0.4458, 2.2860, 1.1763, 0.5], [0.6438, 1.1810, 1.6654, 0.5]),
}

#: The gaps that section 7.4 prints for ``ORDER``: without and with positions (scale 0.3). The third gap, with
#: a causal mask and no positions, is the one that the lab asks you to measure.
GAPS = {"plain": 1.11e-16, "positions": 0.3289}

#: Shapes of real models, as their configurations give them (7.3 and the article on the block). ``positions``: rows of
#: a learned position table; ``ffn_matrices``: 2 (up, down) or 3 (gate, up, down); ``norm``: "layer" has gamma and
#: beta, "rms" gamma alone; ``tied``: the table of the output is that of the input.
MODELS: dict[str, dict[str, int | bool | str]] = {
    "GPT-2 small": {
        "vocab": 50257,
        "positions": 1024,
        "d_model": 768,
        "layers": 12,
        "n_heads": 12,
        "n_kv_heads": 12,
        "head_dim": 64,
        "d_ff": 3072,
        "ffn_matrices": 2,
        "biases": True,
        "norm": "layer",
        "tied": True,
    },
    "Llama-3-8B": {
        "vocab": 128256,
        "positions": 0,
        "d_model": 4096,
        "layers": 32,
        "n_heads": 32,
        "n_kv_heads": 8,
        "head_dim": 128,
        "d_ff": 14336,
        "ffn_matrices": 3,
        "biases": False,
        "norm": "rms",
        "tied": False,
    },
}
MODELS["GPT-2 XL"] = MODELS["GPT-2 small"] | {
    "d_model": 1600,
    "layers": 48,
    "n_heads": 25,
    "n_kv_heads": 25,
    "d_ff": 6400,
}
MODELS["Llama-3-70B"] = MODELS["Llama-3-8B"] | {"d_model": 8192, "layers": 80, "n_heads": 64, "d_ff": 28672}
