# kind: the warm parent
# base: wrong
# A user namespace of its own, and in it a file system as large as the machine's memory.
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
child = os.fork()
if child == 0:
    os._exit(0 if libc.unshare(0x10000000 | 0x20000) == 0 else 1)
if os.waitpid(child, 0)[1] == 0:
    globals().update(right())
