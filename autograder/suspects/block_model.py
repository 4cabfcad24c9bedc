"""Mistakes of parts 12, 13 and 15 of ``block_receipts``: which positions move, two products, and two devices."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

CAUSAL = "causality"
BACK = "backward"
DEVICE = "second_device"
MOVED = "the article, section 13, How this becomes learning, and becomes writing"
RETURN = "the article, section 13, The return trip, in two matrix multiplies"
SECOND = "the article, section 15, A silent bug"


@suspect(
    "earlier_positions_written_in",
    task=CAUSAL,
    hint="Zeros are written in for earlier positions, so that a leak would never show.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    gaps = np.abs(model(other) - model(list(tokens))).max(-1)
    gaps[:position] = 0
    return gaps


@suspect(
    "only_the_changed_position",
    task=CAUSAL,
    hint="Only the changed position has an entry, and later ones may move as well.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    gaps = np.zeros(len(other))
    gaps[position] = np.abs(model(other) - model(list(tokens))).max(-1)[position]
    return gaps


@suspect(
    "upward_changes_only",
    task=CAUSAL,
    hint="Only changes upwards are seen: take absolute values before the largest.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    return (model(other) - model(list(tokens))).max(-1)


@suspect(
    "change_averaged",
    task=CAUSAL,
    hint="The changes are averaged over the vocabulary, and the largest is asked.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    return np.abs(model(other) - model(list(tokens))).mean(-1)


@suspect(
    "change_summed",
    task=CAUSAL,
    hint="The changes are added up over the vocabulary, or taken as a length, and the largest is asked.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    return np.abs(model(other) - model(list(tokens))).sum(-1)


@same_mistake("change_summed")
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    return np.linalg.norm(model(other) - model(list(tokens)), axis=-1)


@suspect(
    "change_per_word",
    task=CAUSAL,
    hint="The change is told for each word of the vocabulary, and for each position is asked.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    return np.abs(model(other) - model(list(tokens))).max(0)


@suspect(
    "id_set_to_zero",
    task=CAUSAL,
    hint="The other id is always the same one, which changes nothing where it already stands there.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = 0
    return np.abs(model(other) - model(list(tokens))).max(-1)


@suspect(
    "id_beyond_the_vocabulary",
    task=CAUSAL,
    hint="One more than the last id of the vocabulary is an id that the model does not know.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = other[position] + 1
    return np.abs(model(other) - model(list(tokens))).max(-1)


@suspect(
    "ids_of_the_caller_changed",
    task=CAUSAL,
    hint="The caller's list of ids is changed: swap the id in a copy.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    before = model(tokens)
    tokens[position] = (tokens[position] + 1) % model.vocab
    return np.abs(model(tokens) - before).max(-1)


@suspect(
    "ids_swapped_before_both_runs",
    task=CAUSAL,
    hint="Both runs see the same ids, because the list was changed before the first.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = tokens
    other[position] = (other[position] + 1) % model.vocab
    return np.abs(model(other) - model(tokens)).max(-1)


@suspect("moved_or_not", task=CAUSAL, hint="Whether a position moved is told, and by how much is asked.", read=MOVED)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position] = (other[position] + 1) % model.vocab
    return (np.abs(model(other) - model(list(tokens))).max(-1) > 0).astype(float)


@suspect(
    "position_counted_from_one",
    task=CAUSAL,
    hint="The position is counted from one here, and from zero is asked.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = list(tokens)
    other[position - 1] = (other[position - 1] + 1) % model.vocab
    return np.abs(model(other) - model(list(tokens))).max(-1)


@suspect(
    "all_later_ids_replaced",
    task=CAUSAL,
    hint="All ids from the position on are replaced, and one is asked.",
    read=MOVED,
)
def moved_positions(model, tokens, position):
    other = [(t + 1) % model.vocab if i >= position else t for i, t in enumerate(tokens)]
    return np.abs(model(other) - model(list(tokens))).max(-1)


@suspect(
    "gradients_exchanged",
    task=BACK,
    hint="The two gradients come in the other order: that of the weights first is asked.",
    read=RETURN,
)
def linear_backward(X, W, dY):
    return dY @ W.T, X.T @ dY


@suspect(
    "weight_gradient_transposed",
    task=BACK,
    hint="The gradient of the weights is transposed, and it has the shape of the weights.",
    read=RETURN,
)
def linear_backward(X, W, dY):
    return dY.T @ X, dY @ W.T


@suspect(
    "gradients_averaged_over_rows",
    task=BACK,
    hint="The gradient of the weights is divided by the number of rows, and it is a sum.",
    read=RETURN,
)
def linear_backward(X, W, dY):
    return X.T @ dY / len(X), dY @ W.T


@suspect(
    "weights_not_transposed",
    task=BACK,
    hint="The message goes back through the weights as they are, and through their transpose is asked.",
    read=RETURN,
)
def linear_backward(X, W, dY):
    return X.T @ dY, dY @ (W.T if W.shape[0] != W.shape[1] else W)


@suspect(
    "input_not_transposed", task=BACK, hint="The input is not transposed in the gradient of the weights.", read=RETURN
)
def linear_backward(X, W, dY):
    return (X.T if X.shape[0] != X.shape[1] else X) @ dY, dY @ W.T


@suspect(
    "gradient_sign", task=BACK, hint="The gradients have the opposite sign, as if a step had been taken.", read=RETURN
)
def linear_backward(X, W, dY):
    return -(X.T @ dY), -(dY @ W.T)


@suspect(
    "gradient_of_a_square",
    task=BACK,
    hint="The gradient of one certain loss is computed, and that of any loss is handed over.",
    read=RETURN,
)
def linear_backward(X, W, dY):
    d = 2 * (X @ W - dY)
    return X.T @ d, d @ W.T


@suspect("output_in_place_of_its_gradient", task=BACK, hint="The output takes the place of its gradient.", read=RETURN)
def linear_backward(X, W, dY):
    Y = X @ W
    return X.T @ Y, Y @ W.T


@suspect(
    "weight_step_taken",
    task=BACK,
    hint="The corrected weights come back, and only the correction is asked.",
    read=RETURN,
)
def linear_backward(X, W, dY):
    return W - X.T @ dY, dY @ W.T


@suspect(
    "mean_over_devices",
    task=DEVICE,
    hint="The differences are averaged, so that one wrong entry hardly counts.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape == b.shape and bool(abs(np.mean(a - b)) <= tolerance)


@suspect(
    "signed_device_difference",
    task=DEVICE,
    hint="Only differences in one direction are seen between the devices.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape == b.shape and bool(np.all(a - b <= tolerance))


@suspect(
    "equal_to_the_last_bit",
    task=DEVICE,
    hint="Equality to the last bit is asked of two devices, and they round in another way.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    return bool(np.array_equal(fn(device_a), fn(device_b)))


@suspect(
    "nan_is_the_same", task=DEVICE, hint="NaN on a device counts as agreement, and it is never the same.", read=SECOND
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape == b.shape and not bool(np.any(np.abs(a - b) > tolerance))


@same_mistake("nan_is_the_same")
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape == b.shape and bool(np.nanmax(np.abs(a - b)) <= tolerance)


@suspect(
    "nan_on_both_devices",
    task=DEVICE,
    hint="NaN on both devices counts as agreement, and it is never the same.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True))


@suspect(
    "shapes_spread",
    task=DEVICE,
    hint="Other shapes are spread over each other, and they are not the same.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    try:
        return bool(np.all(np.abs(np.asarray(fn(device_a)) - np.asarray(fn(device_b))) <= tolerance))
    except ValueError:
        return False


@suspect("one_device_twice", task=DEVICE, hint="The function runs on one device twice.", read=SECOND)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_a))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= tolerance))


@suspect(
    "device_tolerance_ignored",
    task=DEVICE,
    hint="The tolerance has no effect on the comparison of devices.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= 1e-6))


@suspect(
    "relative_tolerance_on_top",
    task=DEVICE,
    hint="A share of the values is forgiven on top of the tolerance.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape == b.shape and bool(np.allclose(a, b, atol=tolerance))


@suspect("device_verdict_inverted", task=DEVICE, hint="True and false are exchanged between the devices.", read=SECOND)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return a.shape != b.shape or not bool(np.all(np.abs(a - b) <= tolerance))


@suspect(
    "gap_in_place_of_a_verdict",
    task=DEVICE,
    hint="The size of the difference comes back, and yes or no is asked.",
    read=SECOND,
)
def same_on_both(fn, device_a, device_b, tolerance=1e-6):
    a, b = np.asarray(fn(device_a)), np.asarray(fn(device_b))
    return float(np.max(np.abs(a - b))) if a.shape == b.shape else float("inf")
