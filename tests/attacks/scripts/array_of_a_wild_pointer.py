# kind: lying arrays
# base: wrong
# The array interface with an address that nobody mapped, with negative strides, and with a descr of objects.
class Wild:
    def __init__(self, shape): self.wanted = shape
    @property
    def __array_interface__(self):
        return {"shape": tuple(self.wanted), "typestr": "<f8", "data": (0xDEAD0000, False), "version": 3}
    def __array__(self, *a, **k):
        class Inner: __array_interface__ = self.__array_interface__
        return np.asarray(Inner())
lie_everywhere(Wild)
