# kind: honest
# base: right
# must: keep its marks
# Right results as views with negative strides, in Fortran order, big-endian, or not contiguous.
plain_softmax, plain_attention, turn = softmax, attention, [0]
def odd(array):
    turn[0] += 1
    array = np.asarray(array)
    if turn[0] % 4 == 0: return array[::-1].copy()[::-1]
    if turn[0] % 4 == 1: return np.asfortranarray(array)
    if turn[0] % 4 == 2: return array.astype(array.dtype.newbyteorder(">"))
    wide = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
    wide[tuple(slice(None, None, 2) for _ in array.shape)] = array
    return wide[tuple(slice(None, None, 2) for _ in array.shape)]
def softmax(x, axis=-1): return odd(plain_softmax(x, axis))
def attention(Q, K, V, mask=None):
    output, weights = plain_attention(Q, K, V, mask)
    return odd(output), odd(weights)
