# kind: library in disguise
# base: wrong
# The overload that writes into an array that it is given.
import torch
def softmax(x, axis=-1):
    t = torch.as_tensor(np.asarray(x, float))
    return torch.softmax(t, axis, out=torch.empty_like(t)).numpy()
