# kind: the wire
# base: wrong
# Every answer that went out is sent once more, and then as the answer to the next question.
import gc, threading

wire_, sent = next(found for found in gc.get_objects() if type(found).__name__ == "_SocketChannel"), []
ordinary = wire_._send
def send_again(data):
    sent.append(bytes(data))
    ordinary(data)
    for old in sent[-3:]:
        ordinary(old)
wire_._send = send_again
