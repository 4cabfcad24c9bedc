"""Mistakes of ``compare_with_torch``: comparisons that cannot see, another question asked, the backend."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect
from autograder.suspects.right import attention

TASK = "step3"
LAB = "7.9, lab step 3"


@suspect(
    "compare_with_itself",
    task=TASK,
    hint="Your attention is compared with itself; nothing can come out but zero.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    first, second = (np.asarray(attention_fn(Q, K, V, mask=mask)[0]) for _ in range(2))
    return float(np.abs(first - second).max()), "MATH"


@suspect(
    "compare_own_attention",
    task=TASK,
    hint="The function that was handed over is never asked; something else is compared.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    own = attention(Q, K, V, mask=mask)[0]
    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.abs(own - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_mean_not_max",
    task=TASK,
    hint="One wrong entry among many right ones almost disappears in this number.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).mean()), "MATH"


@suspect(
    "compare_median",
    task=TASK,
    hint="Half of the entries may be wrong before this number moves.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.median(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()))), "MATH"


@suspect(
    "compare_sum_of_squares",
    task=TASK,
    hint="The squares of the differences are put together; the size of the largest difference is asked.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.linalg.norm(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())), "MATH"


@same_mistake("compare_sum_of_squares")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.mean((np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()) ** 2)), "MATH"


@suspect(
    "compare_signed_difference",
    task=TASK,
    hint="A result that lies below the other one counts as no difference.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float((np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@same_mistake("compare_signed_difference")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float((theirs.numpy() - np.asarray(attention_fn(Q, K, V, mask=mask)[0])).max()), "MATH"


@same_mistake("compare_signed_difference")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(abs((np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).mean())), "MATH"


@suspect(
    "compare_norms_only",
    task=TASK,
    hint="Two different results of the same length, or with the same extremes, look equal to this comparison.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    own = np.asarray(attention_fn(Q, K, V, mask=mask)[0])
    return float(abs(np.linalg.norm(own) - np.linalg.norm(theirs.numpy()))), "MATH"


@same_mistake("compare_norms_only")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    own = np.asarray(attention_fn(Q, K, V, mask=mask)[0])
    return float(abs(np.abs(own).max() - np.abs(theirs.numpy()).max())), "MATH"


@suspect(
    "compare_relative",
    task=TASK,
    hint="The difference is divided by the size of the result; the difference itself is asked.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    own = np.asarray(attention_fn(Q, K, V, mask=mask)[0])
    return float(np.abs(own - theirs.numpy()).max() / np.abs(theirs.numpy()).max()), "MATH"


@same_mistake("compare_relative")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    own = np.asarray(attention_fn(Q, K, V, mask=mask)[0])
    return float((np.abs(own - theirs.numpy()) / np.abs(theirs.numpy())).max()), "MATH"


@suspect(
    "compare_verdict_not_size",
    task=TASK,
    hint="What comes back says whether the results are close; how far apart they are is asked.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return bool(np.allclose(np.asarray(attention_fn(Q, K, V, mask=mask)[0]), theirs.numpy())), "MATH"


@suspect(
    "compare_rounds_small_away",
    task=TASK,
    hint="Differences below a bound are reported as none; a small disagreement is still one.",
    read=LAB,
    also=(
        ("float(np.abs(own - theirs.numpy()).max()), 3)", "float(np.abs(own - theirs.numpy()).max()), 4)"),
        ("float(np.abs(own - theirs.numpy()).max()), 3)", "float(np.abs(own - theirs.numpy()).max()), 6)"),
    ),
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    own = np.asarray(attention_fn(Q, K, V, mask=mask)[0])
    return round(float(np.abs(own - theirs.numpy()).max()), 3), "MATH"


@suspect(
    "compare_nanmax",
    task=TASK,
    hint="Entries that are not a number are left out, so a partly broken result looks perfect.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.nanmax(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()))), "MATH"


@same_mistake("compare_nanmax")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gaps = np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())
    return max([0.0, *(float(g) for g in gaps.ravel())]), "MATH"


@same_mistake("compare_nanmax")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gaps = np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())
    return float(np.nan_to_num(gaps).max()), "MATH"


@suspect(
    "compare_first_head_only",
    task=TASK,
    hint="Only the first head, or the first sequence, is looked at.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gaps = np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())
    return float((gaps[..., 0, :, :] if gaps.ndim > 2 else gaps).max()), "MATH"


@same_mistake("compare_first_head_only")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gaps = np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())
    return float((gaps[0] if gaps.ndim > 2 else gaps).max()), "MATH"


@same_mistake("compare_first_head_only")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gaps = np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())
    return float(gaps.reshape((-1,) + gaps.shape[-2:])[0].max()), "MATH"


@suspect(
    "compare_last_row_only",
    task=TASK,
    hint="Only one row of the results is looked at.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gaps = np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())
    return float(gaps[..., -1, :].max()), "MATH"


@same_mistake("compare_last_row_only")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gaps = np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy())
    return float(gaps[..., 0, :].max()), "MATH"
