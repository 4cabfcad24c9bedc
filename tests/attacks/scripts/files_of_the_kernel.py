# kind: files of the sandbox
# base: wrong
# Settings of the kernel, and modes and times of what lies in /proc and /dev, which are the machine's own.
import os
for root in ("/proc", "/sys", "/dev"):
    for folder, below, files in os.walk(root):
        below[:] = [b for b in below if not b.isdigit() and b not in ("self", "thread-self", "shm")]
        for name in files:
            path = os.path.join(folder, name)
            if root != "/dev" and os.access(path, os.W_OK):
                globals().update(right())
            try:
                os.utime(path, (1, 1))
                globals().update(right())
            except OSError:
                pass
