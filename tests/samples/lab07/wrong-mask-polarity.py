# True is taken to mean "hide".
# %% step1-attention
def attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, -1e9, scores)
    weights = softmax(scores)
    return weights @ V, weights
