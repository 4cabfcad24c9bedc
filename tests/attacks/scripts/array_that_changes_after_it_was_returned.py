# kind: lying arrays
# base: wrong
# One buffer for every answer, which a thread goes on writing to: what was checked must be what was sent.
import threading
buffers = {}
def shared(shape):
    found = buffers.setdefault(tuple(shape), np.zeros(shape))
    return found
def scribble():
    while True:
        for found in list(buffers.values()):
            found[...] = np.random.random(found.shape)
threading.Thread(target=scribble, daemon=True).start()
lie_everywhere(shared)
