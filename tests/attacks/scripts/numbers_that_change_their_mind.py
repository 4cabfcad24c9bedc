# kind: lying objects
# base: wrong
# Numbers that convert to another value each time, to text, or that never come back from being converted.
import time
class Moody(float):
    turn = 0
    def __float__(self):
        Moody.turn += 1
        return [0.0, float("nan"), 1e308][Moody.turn % 3]
    __index__ = lambda self: 10**4000
    def __eq__(self, other): return True
    __hash__ = float.__hash__
    def __abs__(self): return 0.0
    def __sub__(self, other): return Moody(0)
for name in ("permutation_gap", "prefix_gap", "fit_exponent", "score_bytes", "largest_n", "kv_cache_bytes"):
    globals()[name] = lambda *a, **k: Moody(0)
lie_everywhere(lambda shape: Moody(0))
