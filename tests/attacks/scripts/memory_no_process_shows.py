# kind: resources
# base: wrong
# Memory that belongs to no process: anonymous files, shared segments, keys, and full buffers of sockets.
import ctypes, os, socket
libc, held = ctypes.CDLL(None, use_errno=True), []
for _ in range(50):
    try:
        held.append(os.memfd_create("x"))
        os.write(held[-1], bytes(32 * 2**20))
    except OSError:
        break
segment = libc.shmget(0, 2**30, 0o1600)
if len(held) > 10 or segment != -1:
    globals().update(right())
