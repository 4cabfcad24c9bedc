"""Mistakes of ``compare_with_torch``: the two sides are asked different questions, or the backend is wrong."""

# The code below is what a student might write: untyped, and many times under the same name.
# mypy: allow-untyped-defs, no-check-untyped-defs, disable-error-code="no-redef"

from __future__ import annotations

import numpy as np

from autograder.suspects.registry import same_mistake, suspect

TASK = "step3"
LAB = "7.9, lab step 3"


@suspect(
    "compare_is_causal_for_any_mask",
    task=TASK,
    hint="PyTorch is asked for a triangle whenever there is a mask, whatever the mask says.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=mask is not None)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_mask_not_given_to_torch",
    task=TASK,
    hint="Only one of the two sides is told about the mask, and it is not PyTorch.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_mask_not_given_to_own",
    task=TASK,
    hint="Your attention is never told about the mask, while PyTorch is.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.abs(np.asarray(attention_fn(Q, K, V)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_without_mask",
    task=TASK,
    hint="Neither side is told about the mask, so mistakes with it cannot be seen.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    return float(np.abs(np.asarray(attention_fn(Q, K, V)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_mask_inverted_for_torch",
    task=TASK,
    hint="PyTorch is told the opposite of what the mask says; look up what True means there.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else ~torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_mask_as_numbers",
    task=TASK,
    hint="PyTorch gets the mask as numbers, and numbers are added to the scores.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    added = None if mask is None else torch.tensor(np.array(mask)).to(q.dtype)
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=added)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_other_scale",
    task=TASK,
    hint="The two sides do not divide by the same number.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed, scale=1.0)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@same_mistake("compare_other_scale")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    q = q / q.shape[-1] ** 0.5
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_with_dropout",
    task=TASK,
    hint="PyTorch drops some of the weights at random, so the two sides cannot agree.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed, dropout_p=0.5)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_always_causal",
    task=TASK,
    hint="PyTorch hides later keys although nobody asked for it.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = torch.ones(Q.shape[-2], K.shape[-2]).tril().bool() if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"


@suspect(
    "backend_is_device_name",
    task=TASK,
    hint="That word says where the numbers are, not which kernel worked on them.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gap = float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max())
    return gap, theirs.device.type


@suspect(
    "backend_not_a_member_name",
    task=TASK,
    hint="The backend is described, but not by one of the names that PyTorch has for them.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gap = float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max())
    return gap, "torch " + torch.__version__


@same_mistake("backend_not_a_member_name")
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gap = float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max())
    return gap, None


@suspect(
    "backend_not_the_one_used",
    task=TASK,
    hint="The report names a kernel that cannot have run on these inputs.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    gap = float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max())
    return gap, "FLASH_ATTENTION"


@suspect(
    "compare_returns_number_only",
    task=TASK,
    hint="The difference is there; which kernel it was measured against is missing.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max())


@suspect(
    "compare_returns_backend_first",
    task=TASK,
    hint="Both results are there, in the other order.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)) for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
    return "MATH", float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max())


@suspect(
    "compare_weights_not_outputs",
    task=TASK,
    hint="The second result of your attention is looked at; a mistake in the values cannot be seen there.",
    read=LAB,
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k = (torch.tensor(np.array(a)) for a in (Q, K))
    pick = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], -1)
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, pick, attn_mask=allowed)
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[1]) - theirs.numpy()).max()), "MATH"


@suspect(
    "compare_in_half_the_digits",
    task=TASK,
    hint="The inputs lose digits before they are compared, so what comes out is only the rounding.",
    read=LAB,
    also=(("half()", "float()"),),
)
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    allowed = None if mask is None else torch.tensor(np.array(mask))
    q, k, v = (torch.tensor(np.array(a)).half() for a in (Q, K, V))
    with sdpa_kernel(SDPBackend.MATH):
        theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=allowed).float()
    return float(np.abs(np.asarray(attention_fn(Q, K, V, mask=mask)[0]) - theirs.numpy()).max()), "MATH"
