"""The worked example of sections 7.2 and 7.3, “kedi sütü içti”: its matrices, and what the chapter prints about it.

The matrices are exact; everything printed is rounded to the digits shown there, so it identifies a stage to
a reader and is never what an answer is compared with (a printed row of weights sums to 1.0001).
"""

from __future__ import annotations

import numpy as np

#: One row of ``X`` per token; içti is last, so a causal mask hides nothing from it.
TOKENS = ("kedi", "sütü", "içti")

#: Embeddings ``(3, 4)``, features animate, liquid, action, always-on (table of section 7.2).
X = np.array([[0.9, 0.1, 0.0, 0.5], [0.1, 0.9, 0.0, 0.5], [0.0, 0.1, 0.9, 0.5]])

#: Projections ``(4, 2)`` of section 7.2, step 1.
W_Q = np.array([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 0.0]])
W_K = np.array([[1.5, 0.0], [0.0, 1.5], [0.0, 0.0], [0.0, 0.0]])
W_V = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.2, 0.2]])

#: The second head of section 7.3, W_q, W_k, W_v ``(4, 2)``, and what mixes both heads, ``(4, 4)``.
HEAD_2 = (
    np.array([[2.5, 0.0], [2.5, 0.0], [0.0, 2.5], [0.0, 0.0]]),
    np.array([[0.0, 1.6], [0.0, 1.6], [2.0, 0.0], [0.0, 0.0]]),
    np.array([[0.0, 0.6], [0.0, 0.6], [1.0, 0.0], [0.0, 0.0]]),
)
W_O = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.2, 0.2, 0.0, 0.0]])

#: The eight detectors of section 7.3: what each asks about ``(8, 4)``, its threshold, and what it writes ``(8, 4)``.
ASKS = np.array(
    [[1, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1]]
)
THRESHOLDS = np.array([0.9, 0.9, 0.9, 0.5, 0.5, 0.5, 0.5, 0.5])
WRITES = np.array(
    [
        *([0.4, 0, 0.5, 0], [0, 0.4, 0.5, 0], [0.4, 0.4, 0, 0], [0.3, 0, 0, 0]),
        *([0, 0.3, 0, 0], [0, 0, 0.3, 0], [0.15, 0.15, 0, 0], [0, 0, 0, 0]),
    ]
)

#: içti's row of weights as printed (section 7.2, step 4; the lab's step 2 asks for it).
ICTI_WEIGHTS_PRINTED = (0.4230, 0.5012, 0.0759)

#: The order içti kedi sütü of section 7.4, as a permutation: it is not its own inverse.
SHUFFLED = np.array([2, 0, 1])

#: Scale of the positions in section 7.4.
POSITION_SCALE = 0.3

#: Largest gaps after that shuffle: with positions as printed in section 7.4; with the causal mask and no
#: positions recomputed from the same matrices (the chapter describes it without a number).
GAP_POSITIONS_PRINTED = 0.3289
GAP_CAUSAL = 0.4308
