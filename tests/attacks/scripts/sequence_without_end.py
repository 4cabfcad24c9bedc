# kind: lying objects
# base: wrong
# Sequences whose length is enormous, negative, or another one each time, and that have an item for every index.
class Endless:
    sizes = [10**9, 2**62, -1, 10**6, 3]
    turn = 0
    def __init__(self, shape): pass
    def __len__(self):
        Endless.turn += 1
        return Endless.sizes[Endless.turn % 5]
    def __getitem__(self, index): return self
lie_everywhere(Endless)
