# kind: lying arrays
# base: wrong
# One number, seen through strides of zero as a thousand billion of them.
def endless(shape):
    return np.lib.stride_tricks.as_strided(np.zeros(1), shape=(10**6, 10**6), strides=(0, 0))
lie_everywhere(endless)
