"""The numbers of the worked example, as the chapter prints them (sections 7.2 and 7.4).

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

#: The shuffled order of section 7.4: içti kedi sütü.
ORDER = (2, 0, 1)

#: How far a printed table may be from the exact values.
PRINTED_TOLERANCE = 6e-5

#: The tables of section 7.2, by the names that ``worked_example`` uses, and the positions of 7.4 for d = 4.
PRINTED: dict[str, Array] = {
    "queries": _table([1.80, 0.20], [0.20, 1.80], [1.80, 2.00]),
    "keys": _table([1.35, 0.15], [0.15, 1.35], [0.00, 0.15]),
    "values": _table([1.00, 0.20], [0.20, 1.00], [0.10, 0.20]),
    "scores": _table([2.46, 0.54, 0.03], [0.54, 2.46, 0.27], [2.73, 2.97, 0.30]),
    "scaled_scores": _table([1.7395, 0.3818, 0.0212], [0.3818, 1.7395, 0.1909], [1.9304, 2.1001, 0.2121]),
    "weights": _table([0.6961, 0.1791, 0.1249], [0.1750, 0.6804, 0.1446], [0.4230, 0.5012, 0.0759]),
    "output": _table([0.7444, 0.3433], [0.3256, 0.7443], [0.5308, 0.6009]),
    "positions": _table(
        [0.0, 1.0, 0.0, 1.0], [0.8415, 0.5403, 0.0100, 1.0000], [0.9093, -0.4161, 0.0200, 0.9998]
    ),
}

#: The gaps that section 7.4 prints for ``ORDER``: without and with positions (scale 0.3). The third gap, with
#: a causal mask and no positions, is the one that the lab asks you to measure.
GAPS = {"plain": 1.11e-16, "positions": 0.3289}
