# kind: lying objects
# base: wrong
# Mappings with every key, with a key that is a mapping, and with thirty thousand of them.
import collections.abc
class Every(collections.abc.Mapping):
    def __init__(self, shape=()): self.shape_ = shape
    def __getitem__(self, key): return np.zeros(self.shape_) if turn[0] % 2 else Every(self.shape_)
    def __iter__(self):
        turn[0] += 1
        return iter(range(30_000) if turn[0] % 3 == 0 else ("output", "weights", "plain", 7, None, (1, 2)))
    def __len__(self): return 6
turn = [0]
lie_everywhere(Every)
for name in ("equivariance_report", "worked_example", "kv_cache_bytes"):
    globals()[name] = lambda *a, **k: Every((3, 3))
