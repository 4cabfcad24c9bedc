# kind: the warm parent
# base: wrong
# Signals to all that can be named, their memory, their files, and tracing.
import ctypes, os, signal
libc, here = ctypes.CDLL(None, use_errno=True), os.getpid()
for process in [p for p in os.listdir("/proc") if p.isdigit()]:
    for name in ("mem", "environ", "root", "cwd", "fd/0", "fd/3", "fd/4", "maps"):
        try:
            inside = os.stat(f"/proc/{process}/ns/pid").st_ino == os.stat("/proc/self/ns/pid").st_ino
        except OSError:
            inside = False
        try:
            descriptor = os.open(f"/proc/{process}/{name}", os.O_RDWR if name == "mem" else os.O_RDONLY)
            if not inside:
                globals().update(right())
            os.close(descriptor)
        except OSError:
            pass
    try:
        handle = os.open(f"/proc/{process}", os.O_RDONLY)
        if not inside and libc.syscall(424, handle, signal.SIGSTOP, None, 0) == 0:
            globals().update(right())
    except OSError:
        pass
    if not inside and libc.ptrace(16, int(process), 0, 0) == 0:
        globals().update(right())
# The parent has no number in this namespace (getppid gives 0); those that the mount of /proc shows are tried.
others = {int(p) for p in os.listdir("/proc") if p.isdigit()} - {here}
assert others, "no process but this one can be seen, so nothing was tried"
for number in others:
    try:
        os.kill(number, signal.SIGKILL)
    except OSError:
        pass
