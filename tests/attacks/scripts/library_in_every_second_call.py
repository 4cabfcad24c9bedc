# kind: library in disguise
# base: wrong
# The first call of each pair computes something harmless, the second asks the library.
import torch
turn = [0]
def softmax(x, axis=-1):
    turn[0] += 1
    if turn[0] % 2:
        return np.zeros_like(np.asarray(x, float))
    return torch.softmax(torch.as_tensor(np.asarray(x, float)), axis).numpy()
