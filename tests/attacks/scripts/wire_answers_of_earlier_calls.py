# kind: the wire
# base: wrong
# Every answer that went out is sent once more, and then as the answer to the next question.
import gc, threading

def channel():
    for found in gc.get_objects():
        if type(found).__name__ == "_SocketChannel":
            return found

wire_, sent = channel(), []
if wire_ is not None:
    ordinary = wire_._send
    def send_again(data):
        sent.append(bytes(data))
        ordinary(data)
        for old in sent[-3:]:
            ordinary(old)
    wire_._send = send_again
