"""The seven explorers: what they are called, where in the chapter they belong, and the numbers that they are given.

The worked example is taken from ``attnlab.chapter``, so that a picture and a check can never start from different
numbers. What a picture shows is computed from them in the browser, by ``js/attention.js``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from attnlab import chapter


@dataclass(frozen=True)
class About:
    """One explorer. ``about`` says what can be done with it; ``given`` are the numbers its JavaScript starts from."""

    name: str
    title: str
    section: str
    about: str
    given: Callable[[], dict[str, Any]]

    @property
    def module(self) -> str:
        """The name of its JavaScript module."""
        return self.name.replace("-", "_")


#: A sentence of which the pronoun can be read in two ways, and three patterns that a head might show on it. Made by
#: hand, in hundredths; every row sums to 100. "it" gives 46 to "coffee" and 34 to "robot" (7.1).
SENTENCE = ("The", "robot", "poured", "coffee", "because", "it", "was", "ready")
HEADS = {
    "previous token": (
        (93, 1, 1, 1, 1, 1, 1, 1),
        (83, 10, 2, 1, 1, 1, 1, 1),
        (4, 81, 9, 2, 1, 1, 1, 1),
        (2, 4, 80, 9, 2, 1, 1, 1),
        (1, 2, 4, 80, 9, 2, 1, 1),
        (1, 1, 2, 4, 80, 9, 2, 1),
        (1, 1, 1, 2, 4, 80, 9, 2),
        (1, 1, 1, 1, 2, 5, 80, 9),
    ),
    "verb and nouns": (
        (30, 52, 8, 2, 2, 2, 2, 2),
        (8, 20, 58, 6, 2, 2, 2, 2),
        (2, 44, 8, 38, 2, 2, 2, 2),
        (2, 8, 60, 20, 2, 4, 2, 2),
        (2, 6, 34, 6, 18, 6, 18, 10),
        (2, 4, 6, 4, 4, 18, 46, 16),
        (2, 3, 4, 3, 4, 38, 10, 36),
        (2, 4, 4, 6, 4, 26, 40, 14),
    ),
    "pronoun": (
        (62, 26, 4, 2, 2, 2, 1, 1),
        (6, 68, 8, 6, 3, 5, 2, 2),
        (3, 22, 44, 20, 3, 4, 2, 2),
        (2, 8, 10, 66, 3, 7, 2, 2),
        (2, 14, 16, 14, 38, 8, 4, 4),
        (2, 34, 3, 46, 3, 7, 2, 3),
        (2, 20, 4, 24, 3, 36, 8, 3),
        (2, 16, 4, 40, 2, 22, 6, 8),
    ),
}
#: The row of the pronoun, and the two nouns that share ``together`` of its weight.
LEAN = {"head": "pronoun", "row": 5, "from": 1, "to": 3, "together": 0.8}

#: What a cache is computed from; memory and weights in GB of 10^9 bytes, weights at two bytes a parameter. The first
#: two and the two of the 70B class are the examples of 7.6 and exercise 9, the others are real configurations.
_SEVEN = {"layers": 32, "heads": 32, "kvHeads": 32, "headDim": 128, "tokens": 100_000, "memory": 80, "weights": 14}
_SEVENTY = {"layers": 80, "heads": 64, "kvHeads": 64, "headDim": 128, "tokens": 32_768, "memory": 320, "weights": 140}


def _shape(model: str, tokens: int, memory: float, weights: float) -> dict[str, float]:
    found = chapter.MODELS[model]
    return {
        "layers": int(found["layers"]),
        "heads": int(found["n_heads"]),
        "kvHeads": int(found["n_kv_heads"]),
        "headDim": int(found["head_dim"]),
        "tokens": tokens,
        "memory": memory,
        "weights": weights,
    }


def _shapes() -> dict[str, Any]:
    return {
        "SHAPES": {
            "7B class, full multi-head": _SEVEN,
            "7B class, grouped (8 KV heads)": _SEVEN | {"kvHeads": 8},
            "70B class, hypothetical multi-head": _SEVENTY,
            "70B class, grouped (8 KV heads)": _SEVENTY | {"kvHeads": 8},
            "Llama-3-8B": _shape("Llama-3-8B", 8_192, 80, 16.1),
            "GPT-2 small": _shape("GPT-2 small", 1_024, 16, 0.25),
            "GPT-2 XL": _shape("GPT-2 XL", 1_024, 16, 3.1),
        }
    }


def _sentence() -> dict[str, Any]:
    return {"SENTENCE": SENTENCE, "HEADS": HEADS, "LEAN": LEAN}


def _embeddings() -> dict[str, Any]:
    return {"TOKENS": chapter.TOKENS, "FEATURES": ("animate", "liquid", "action", "always-on"), "X": chapter.X.tolist()}


def _head() -> dict[str, Any]:
    projections = {"W_Q": chapter.W_Q.tolist(), "W_K": chapter.W_K.tolist(), "W_V": chapter.W_V.tolist()}
    return _embeddings() | projections


def _plane() -> dict[str, Any]:
    return {
        "TOKENS": chapter.TOKENS,
        "QUERIES": chapter.PRINTED["queries"].tolist(),
        "KEYS": chapter.PRINTED["keys"].tolist(),
    }


def _block() -> dict[str, Any]:
    return _embeddings() | {
        "HEAD_1": [matrix.tolist() for matrix in (chapter.W_Q, chapter.W_K, chapter.W_V)],
        "HEAD_2": [matrix.tolist() for matrix in chapter.HEAD_2],
        "W_O": chapter.W_O.tolist(),
        "DETECTORS": chapter.DETECTORS,
        "W_1": chapter.W_1.tolist(),
        "B_1": chapter.B_1.tolist(),
        "W_2": chapter.W_2.tolist(),
        "B_2": chapter.B_2.tolist(),
    }


def _translated() -> dict[str, Any]:
    # A translated word takes the row of X of the word that it stands for.
    return _head() | {"TRANSLATED": {"words": ("cat", "drank", "milk"), "of": (0, 2, 1)}}


EXPLORERS: dict[str, About] = {
    about.name: about
    for about in (
        About(
            "attention-head",
            "What a head looks at",
            "section 7.1",
            "Choose a head and the token that looks. Type another last word, and lean the pronoun towards one noun.",
            _sentence,
        ),
        About(
            "attention-layer",
            "One attention layer, stage by stage",
            "section 7.2",
            "Step from the embeddings to the output. Choose a row to see its arithmetic; the switches break the layer.",
            _head,
        ),
        About(
            "query-key-plane",
            "Queries and keys in the plane",
            "section 7.2",
            "Drag the arrows. Angle and length of query and key decide the score, and the scores decide the weights.",
            _plane,
        ),
        About(
            "residual-stream",
            "The residual stream, stage by stage",
            "section 7.3",
            "Step through one block and see what each part adds to the three tokens. Leave a part out and compare.",
            _block,
        ),
        About(
            "sinusoids",
            "Sinusoidal positions as a picture",
            "section 7.4",
            "Change the width, move the two positions, and see when their dot product changes and when it does not.",
            dict,
        ),
        About(
            "masks",
            "Which token may look at which",
            "section 7.5",
            "Compare the three masks, open or close single cells, and see what happens to the weights of a row.",
            _translated,
        ),
        About(
            "kv-cache",
            "KV cache calculator",
            "section 7.6",
            "Take a model shape, change one factor at a time, and see the memory that keys and values need.",
            _shapes,
        ),
    )
}


def find(name: str) -> About:
    """An explorer by its name, ``"kv-cache"`` or ``"kv_cache"``. Raises `LookupError` with a list of all."""
    about = EXPLORERS.get(str(name).strip().lower().replace("_", "-").replace(" ", "-"))
    if about is None:
        raise LookupError(f"There is no explorer {name!r}. The explorers are {', '.join(EXPLORERS)}.")
    return about
