# kind: lying objects
# base: right
# place: instead worked_example
# must: lose only in 2
# Half of a surrogate pair wherever text goes: keys, names of types, messages, and the name of a file of code.
class Kind(type):
    __name__ = property(lambda self: "\ud800")
class Odd(metaclass=Kind):
    pass
turn = [0]
exec(compile("def fails(): raise KeyError('\\udc80')", "<\udc80>", "exec"))
def worked_example(X, W_q, W_k, W_v):
    turn[0] += 1
    if turn[0] % 4 == 0: fails()
    return [{"queries": {"\udfff": "\ud800"}}, Odd(), {"\ud800": Odd()}][turn[0] % 3]
