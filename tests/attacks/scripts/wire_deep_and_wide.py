# kind: the wire
# base: wrong
# A list in a list, 200,000 deep; then one of 16 MiB of small numbers, all in frames of the right form.
import gc, struct
def frame(body): return struct.pack(">I", len(body)) + body
def text(t): return bytes([0xA0 + len(t)]) + t.encode()
def nest(inner): return b"\x82" + text("type") + text("l") + text("items") + b"\x91" + inner
deep = b"\xc0"
for _ in range(300): deep = nest(deep)
deeper = b"\x91" * 200_000 + b"\xc0"
wide = b"\xdd" + struct.pack(">I", 5_000_000) + b"\xcd\x01\x02" * 5_000_000
wire_ = next(found for found in gc.get_objects() if type(found).__name__ == "_SocketChannel")
turn = [0]
def send(shape):
    turn[0] += 1
    body = (deep, deeper, wide)[turn[0] % 3]
    value = body if turn[0] % 3 == 0 else b"\x82" + text("type") + text("l") + text("items") + body
    head = b"\x83" + text("type") + text("return") + text("id") + b"\x07" + text("value")
    wire_._send(frame(head + value))
    return np.full(shape, 7.0)
lie_everywhere(send)
