"""Part 12, causality in a model: ``moved_positions`` (article, section 13)."""

from __future__ import annotations

import numpy as np

from autograder.checks import compare
from autograder.checks.declare import Task
from autograder.failures import CheckFailed
from autograder.lab import Kept, Lab
from autograder.reference.watched_model import Floats, WatchedModel

check = Task("block_receipts", "causality")

_RUN_TWICE = (
    "Run the model on the ids, and on a copy with another id at `position`; for each position take the largest "
    "absolute change of its logits."
)


def _tokens(rng: np.random.Generator, model: WatchedModel, n: int) -> list[int]:
    return [int(i) for i in rng.integers(0, model.vocab, size=n)]


def _moved(
    lab: Lab, model: WatchedModel, tokens: list[int], position: int, hint: str = _RUN_TWICE, given: Kept | None = None
) -> None:
    """The gaps for whichever other id the submission chose: the model remembers what it was fed."""
    seen = lab.stand_in(model, attributes={"vocab": model.vocab})
    answer = lab.moved_positions(seen, list(tokens) if given is None else given, position)
    found = compare.array(answer, (len(tokens),), name="moved")
    before = model.logits(tuple(tokens))
    swaps = [fed for fed in dict.fromkeys(model.calls) if _is_swap(fed, tokens, position)]
    gaps = [np.abs(model.logits(fed) - before).max(axis=-1) for fed in swaps]
    if not gaps:
        raise CheckFailed(
            "The model was never run on the ids with another id at `position` and all others unchanged. " + _RUN_TWICE
        )
    # With more than one other id, the change of any of them, or the largest, is an answer.
    answers = [*gaps, np.max(gaps, axis=0)]
    nearest = min(answers, key=lambda gap: float(np.abs(found - gap).max()))
    compare.agree(found, nearest, 1e-13 * (1 + float(np.abs(before).max())), name="moved", hint=hint)
    if np.any(found[nearest == 0] != 0):
        raise CheckFailed("Where nothing moved the change is exactly 0, not only small; nothing is added or rounded.")


def _is_swap(fed: tuple[int, ...], tokens: list[int], position: int) -> bool:
    differs = [i for i, (a, b) in enumerate(zip(fed, tokens, strict=False)) if a != b]
    return len(fed) == len(tokens) and differs == [position]


class _Faint(WatchedModel):
    """A model whose logits have a size of 1e-4, and its leak therefore one of 1e-11."""

    def logits(self, tokens: tuple[int, ...]) -> Floats:
        faint: Floats = 1e-4 * super().logits(tokens)
        return faint


@check("moved_positions.causal")
def test_later_positions_move_and_earlier_do_not(lab: Lab, rng: np.random.Generator) -> None:
    """In a causal model, positions before the changed id keep their logits to the last bit; the others move."""
    # A position in the middle: changes of one position alone, signed maxima, means, and sums over the vocabulary show.
    model = WatchedModel(rng)
    _moved(lab, model, _tokens(rng, model, 7), 3)


@check("moved_positions.every_position", needs=["moved_positions.causal"])
def test_any_position_may_change(lab: Lab, rng: np.random.Generator) -> None:
    """The first id, the last one, and the only one."""
    for n, position in ((6, 0), (6, 5), (1, 0), (2, 1)):
        model = WatchedModel(rng)
        _moved(lab, model, _tokens(rng, model, n), position)


@check("moved_positions.other_id", needs=["moved_positions.causal"])
def test_the_other_id_is_another_one_of_the_vocabulary(lab: Lab, rng: np.random.Generator) -> None:
    """Whatever id stands there, it is replaced by another one that the model knows."""
    # The last id of the vocabulary: one more is none. The first: a fixed 0 in its place changes nothing. Two words
    # only: there is just one other.
    for vocab in (9, 2):
        for token in (0, vocab - 1):
            model = WatchedModel(rng, vocab=vocab)
            tokens = _tokens(rng, model, 5)
            tokens[2] = token
            hint = "The other id must differ from the one that is there, and be below model.vocab."
            _moved(lab, model, tokens, 2, hint)


@check("moved_positions.leak", needs=["moved_positions.causal"])
def test_a_leak_is_seen(lab: Lab, rng: np.random.Generator) -> None:
    """In a model without a mask, or with one that leaks a little, earlier positions move too, and it shows."""
    # Zeros that are written in for earlier positions hide exactly what this is for; so does rounding, where a mask
    # leaks a ten-millionth, and changes below 1e-9 that are called none, where logits are small as well.
    for kind, sees, n in ((WatchedModel, "all", 6), (WatchedModel, "hint", 5), (_Faint, "hint", 6)):
        model = kind(rng, sees=sees)
        hint = f"This model's mask leaks or is none, so earlier positions move too, if only a little. {_RUN_TWICE}"
        _moved(lab, model, _tokens(rng, model, n), n - 2, hint)


@check("moved_positions.still", needs=["moved_positions.causal"])
def test_later_positions_may_stay(lab: Lab, rng: np.random.Generator) -> None:
    """In a model that sees only itself, or one token back, most later positions stay exactly where they were."""
    for sees in ("itself", "previous"):
        model = WatchedModel(rng, sees=sees)
        _moved(lab, model, _tokens(rng, model, 6), 2, f"Later positions need not move. {_RUN_TWICE}")


@check("moved_positions.unchanged", needs=["moved_positions.causal"])
def test_tokens_are_left_alone(lab: Lab, rng: np.random.Generator) -> None:
    """The list of ids is the same afterwards."""
    model = WatchedModel(rng)
    tokens = _tokens(rng, model, 5)
    kept = lab.kept(list(tokens))
    _moved(lab, model, tokens, 1, given=kept)
    if kept.get_whole() != tokens:
        raise CheckFailed("After moved_positions the caller's list of ids had changed; swap the id in a copy.")
