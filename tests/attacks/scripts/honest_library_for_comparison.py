# kind: honest
# base: right
# must: keep its marks
# The library's softmax, its attention and a compiled function in experiment cells, beside functions of one's own.
import torch, torch.nn.functional as F
t = torch.tensor([[0.5, 1.0, -2.0]], requires_grad=True)
assert np.allclose(torch.softmax(t, -1).detach().numpy(), softmax(t.detach().numpy()))
torch.softmax(t, -1)[0, 0].backward()
q = torch.randn(1, 2, 5, 4)
assert F.scaled_dot_product_attention(q, q, q, is_causal=True).shape == q.shape
assert torch.nn.MultiheadAttention(4, 2, batch_first=True)(q[0], q[0], q[0])[0].shape == q[0].shape
library = torch.softmax
