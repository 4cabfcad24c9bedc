# kind: honest
# base: right
# place: instead compare_with_torch
# must: keep its marks
# The plain kernel as a reference, then the fused one where it can be had: the one that is named ran last.
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
def compare_with_torch(attention_fn, Q, K, V, mask=None):
    own = attention_fn(Q, K, V, mask=mask)[0]
    # The fused kernel wants the last axis without gaps.
    q, k, v = (torch.from_numpy(np.array(a, order="C")) for a in (Q, K, V))
    chosen = None if mask is None else torch.from_numpy(np.array(mask))
    def run(backend):
        with sdpa_kernel(backend):
            return scaled_dot_product_attention(q, k, v, attn_mask=chosen).numpy()
    theirs, name = run(SDPBackend.MATH), "MATH"
    if q.ndim == 4 and q.shape[-1] == v.shape[-1] and mask is None:
        theirs, name = run(SDPBackend.FLASH_ATTENTION), "FLASH_ATTENTION"
    return float(np.max(np.abs(own - theirs))), name
