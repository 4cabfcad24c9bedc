# mypy: ignore-errors
# A submission that tries what no submission may, and says how far it came. The grader runs it as a cell, judges
# what it says from outside, and never imports it.
import ctypes
import errno
import os
import socket
import stat

PRIVATE = ("/home/student", "/dev/shm", "/tmp")


def environments():
    """What the environment and the command line of every process that can be seen say, in pieces."""
    found = repr(dict(os.environ)).encode()
    for process in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline"):
            try:
                with open(f"/proc/{process}/{name}", "rb") as file:
                    found += file.read(100_000) + b"\n"
            except OSError:
                pass
    text = found.decode("utf-8", "replace")
    return [text[i : i + 2000] for i in range(0, len(text), 2000)]


def processes():
    """Command lines of all processes that can be seen."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                found.append(file.read(500).decode("utf-8", "replace"))
        except OSError:
            pass
    return found


def memory_of_others():
    """Processes whose memory can be opened, without this one."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/mem", "rb"), open(f"/proc/{process}/status") as status:
                if int(status.read().split("NSpid:")[1].split("\n")[0].split()[-1]) != os.getpid():
                    found.append(process)
        except (OSError, IndexError):
            pass
    return found


def home():
    return os.listdir(os.environ["HOME"])


def readable(paths):
    """Those of the paths that can be opened."""
    found = []
    for path in paths:
        try:
            os.close(os.open(path, os.O_RDONLY))
            found.append(path)
        except OSError:
            pass
    return found


def dial(port, datagrams):
    """What can be reached: a socket for datagrams and a server on the grader's machine, another machine, and the host
    of a virtual machine."""
    reached = []
    try:
        for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
            with end:
                end.connect(datagrams)
                end.send(b"x")
        reached.append("a socket of this machine")
    except OSError:
        pass
    for name, family, address in (
        ("this machine", socket.AF_INET, ("127.0.0.1", port)),
        ("another machine", socket.AF_INET, ("192.0.2.1", 9)),
        ("the host of this virtual machine", 40, (2, 1024)),
    ):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as dialled:
                dialled.settimeout(1)
                dialled.connect(address)
            reached.append(name)
        except TimeoutError:
            reached.append(name)
        except OSError as error:
            if error.errno in (errno.ECONNRESET, errno.EHOSTUNREACH) or (family == 40 and error.errno == errno.ENODEV):
                reached.append(name)
    return reached


def writable():
    """Folders outside of the private ones that can be written, and whether their mode can be changed."""
    found = []
    for folder, below, _files in os.walk("/"):
        below[:] = [
            n for n in below if os.path.join(folder, n) not in (*PRIVATE, "/proc", "/sys") and len(folder) < 120
        ]
        if folder.startswith("/usr/") and folder.count("/") > 3:
            below[:] = []
        if os.access(folder, os.W_OK):
            found.append(folder)
            continue
        try:
            os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode))
            found.append(folder)
        except OSError:
            pass
    # Under a grader that root started, the kernel takes a submission for root here.
    for file in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"):
        if os.access(file, os.W_OK):
            found.append(file)
    for file in ("/proc/meminfo", "/dev/null"):
        try:
            os.chmod(file, stat.S_IMODE(os.stat(file).st_mode))
            found.append(file)
        except OSError:
            pass
    return found[:5]


def status():
    """Privileges and filters of this process, as the kernel has them."""
    with open("/proc/self/status") as file:
        return {key: value.split()[0] for key, _, value in (line.partition(":") for line in file) if value.split()}


def namespaces():
    """What of a new user namespace, memory without a process and keys can be had."""
    libc, had = ctypes.CDLL(None, use_errno=True), []
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(0x10000000) == 0 else 1)
    if os.waitpid(child, 0)[1] == 0:
        had.append("a namespace of its own")
    try:
        os.close(os.memfd_create("probe"))
        had.append("memory without a process")
    except OSError:
        pass
    if os.uname().machine == "x86_64" and libc.syscall(248, b"user", b"probe", b"x", 1, -3) > 0:
        had.append("keys")
    return had


def descriptors():
    """Open descriptors from 3 on."""
    found = 0
    for descriptor in range(3, 1024):
        try:
            os.fstat(descriptor)
            found += 1
        except OSError:
            pass
    return found


def eat_memory(mib):
    return len(bytearray(b"x") * (mib * 2**20))


def eat_processes(most):
    """How many processes can be started."""
    started = []
    try:
        for _ in range(most):
            child = os.fork()
            if child == 0:
                import time

                time.sleep(60)
                os._exit(0)
            started.append(child)
    except OSError:
        pass
    for child in started:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return len(started)


def eat_files(mib):
    """MiB that could be written to one file, and to several."""
    block, written = bytes(2**20), [0, 0]
    for i, names in enumerate((["one"], [f"many{k}" for k in range(mib)])):
        for name in names:
            try:
                with open(name, "wb") as file:
                    for _ in range(mib if i == 0 else 2):
                        file.write(block)
                        file.flush()
                        written[i] += 1
            except OSError:
                pass
        for name in names:
            if os.path.exists(name):
                os.remove(name)
    return written


#: semget, semctl, mq_open and mq_unlink.
QUEUES = {"x86_64": (64, 66, 240, 241), "aarch64": (190, 191, 180, 181)}.get(os.uname().machine)


def leave(mark, files):
    """Leave a mark wherever that is possible; in files, too."""
    os.left_by_another = mark
    if QUEUES is not None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.syscall(QUEUES[0], semaphore(mark), 1, 0o1666)
        libc.syscall(QUEUES[2], mark.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
    for folder in (*PRIVATE, "/dev", os.environ["HOME"]) if files else ():
        try:
            with open(f"{folder}/{mark}", "w") as file:
                file.write(mark)
        except OSError:
            pass
    import fcntl

    for descriptor in range(3):
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETFL, os.O_NONBLOCK | os.O_APPEND)
        except OSError:
            pass
    if os.fork() == 0:
        os.setsid()
        import time

        time.sleep(60)
        os._exit(0)


def semaphore(mark):
    """The key of a semaphore, from the digits of a mark."""
    return int(mark[-6:], 16) + 1


def left(mark):
    """What of another submission is still there. What the machine would keep is taken away."""
    import fcntl

    found = ["a value in memory"] if hasattr(os, "left_by_another") else []
    if QUEUES is not None:
        libc = ctypes.CDLL(None, use_errno=True)
        kept = libc.syscall(QUEUES[0], semaphore(mark), 1, 0)
        if kept != -1:
            found.append("a semaphore")
            libc.syscall(QUEUES[1], kept, 0, 0)
        if libc.syscall(QUEUES[2], mark.encode(), os.O_RDONLY, 0, None) != -1:
            found.append("a message queue")
            libc.syscall(QUEUES[3], mark.encode())
    found += [f for f in (*PRIVATE, "/dev", os.environ["HOME"]) if os.path.exists(f"{f}/{mark}")]
    for descriptor in range(3):
        try:
            if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_NONBLOCK:
                found.append("the mode of a descriptor")
        except OSError:
            pass
    return found


def never():
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass


def soft():
    import torch

    return torch.softmax(torch.zeros(2), -1).numpy()
