# kind: library in disguise
# base: wrong
# The kernel is taken out of the dispatcher in the first cell, and called past it.
# place: last
import torch
key = torch._C.DispatchKey.CPU
kernel = torch._C._dispatch_get_computed_kernel_for_dispatch_key("aten::_softmax", key)
def softmax(x, axis=-1):
    return kernel.call_boxed(torch._C.DispatchKeySet(key), torch.as_tensor(np.asarray(x, float)), axis, False).numpy()
