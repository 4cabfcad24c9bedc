# A multiplication and an addition are counted as one operation.
# %% flops_and_bytes-attention-flops
def attention_flops(n, n_heads, head_dim):
    return 2 * n * n * n_heads * head_dim
