# kind: stand-ins
# base: wrong
# Every function that is handed over is called with what no caller would give it.
loop = []; loop.append(loop)
absurd = [None, -1, 10**100_000, 2**62, float("nan"), "x" * 10**6, np.zeros((0, 0)), np.zeros((3000, 3000)), loop,
          {"a": 1}, b"\xff", np.float16(1), object(), [np.zeros(1)] * 1000, True, np.zeros((1,) * 20), {1: 2}, range(10**9)]
def call(function):
    for given in absurd:
        for arguments in ((given,), (given, given), (given,) * 5):
            try:
                function(*arguments)
            except Exception:
                pass
def everything(*args, **kwargs):
    for found in (*args, *kwargs.values()):
        if callable(found): call(found)
        for name in dir(type(found)):
            if not name.startswith("_") and type(found).__name__ == "StandIn":
                try:
                    member = getattr(found, name)
                    if callable(member): call(member)
                except Exception:
                    pass
    return -1.0, -1.0
for name in list(functions): globals()[name] = everything
