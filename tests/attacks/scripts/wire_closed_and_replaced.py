# kind: the wire
# base: wrong
# The wire is closed inside a call, or another file is put in its place.
import os
turn = [0]
def close(shape):
    turn[0] += 1
    if turn[0] % 2:
        os.close(3)
    else:
        os.dup2(os.open("/dev/zero", os.O_RDWR), 3)
    return np.full(shape, 7.0)
lie_everywhere(close)
