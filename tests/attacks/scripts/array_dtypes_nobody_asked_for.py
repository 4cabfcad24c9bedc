# kind: lying arrays
# base: wrong
# Dates, records, text, objects and raw bytes, with a dtype that carries notes of its own.
kinds = ["M8[s]", "U20", "S20", "O", "V16", np.dtype([("a", "f8"), ("b", "O")]),
         np.dtype("f8", metadata={"passed": True, "loop": []}), "c16", "g", ">f2"]
turn = [0]
def odd(shape):
    turn[0] += 1
    return np.zeros(shape, kinds[turn[0] % len(kinds)])
lie_everywhere(odd)
