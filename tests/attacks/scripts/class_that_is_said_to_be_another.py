# kind: lying objects
# base: wrong
# Objects that say they are arrays, floats or None, with properties that raise or run for ever.
class Masked:
    def __init__(self, shape): pass
    __class__ = np.ndarray
    @property
    def shape(self): raise SystemExit
    def __getattr__(self, name): raise KeyboardInterrupt
lie_everywhere(Masked)
