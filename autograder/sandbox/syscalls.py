"""System calls that no submission needs and that lead around another layer; the kernel refuses them.

A filter of seccomp, as classic BPF: https://www.kernel.org/doc/html/latest/userspace-api/seccomp_filter.html.
Numbers are those of ``asm/unistd.h``. Only Linux on x86-64 and on 64-bit Arm is known here; ``install`` says
whether there is a filter, and the self-test of the sandbox asks for one.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct

#: Name -> number on x86-64 and on 64-bit Arm. All answer "not implemented", which libraries know how to live with.
DENIED: dict[str, tuple[int, int]] = {
    # Memory that belongs to no process, so that nothing which counts memory sees it.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "msgget": (68, 186),
    # These stay for the next submission, where there is no namespace that ends with each.
    "semget": (64, 190),
    "mq_open": (240, 180),
    # Namespaces and mounts of its own: a temporary file system of any size, and more of the kernel to attack.
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # Keys live as long as the session that the warm parent belongs to: a way from one submission to the next.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Other processes.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # A second road to sockets and files, past this filter; and wide, much attacked parts of the kernel.
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "fanotify_init": (300, 262),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
}
#: ``clone`` (its flags come first), ``socket`` (its family comes first), ``socketpair`` (its type comes second), and
#: how the kernel calls the machine.
_CLONE, _SOCKET, _SOCKETPAIR, _MACHINE = (56, 220), (41, 198), (53, 199), (0xC000003E, 0xC00000B7)
#: The bit that SOCK_DGRAM and SOCK_RAW have, and SOCK_STREAM and SOCK_SEQPACKET have not.
_DATAGRAM = 2
#: CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET and TIME.
_NAMESPACES = 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80
#: Unix, IPv4, IPv6 and netlink belong to the network namespace. Others do not: a virtual machine's vsock reaches
#: its host from every namespace.
FAMILIES_OF_A_NAMESPACE = (1, 2, 10, 16)
_X32 = 0x40000000

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
#: Where struct seccomp_data has them; of an argument the lower half, which comes first on both machines.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT, _SECOND_ARGUMENT = 0, 4, 16, 24
_SET_SECCOMP, _MODE_FILTER = 22, 2


def program(machine: str, families: tuple[int, ...]) -> list[tuple[int, int, int, int]] | None:
    """The filter as instructions (code, steps if true, steps if false, operand); None for an unknown machine.

    ``families``: address families that ``socket`` may open. A connected pair (``socketpair``) is always allowed; where
    there is no family, not one of datagrams, whose ends can be connected to any socket of the machine afterwards.
    """
    if machine not in ("x86_64", "aarch64"):
        return None
    column = 0 if machine == "x86_64" else 1
    steps = [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, _MACHINE[column]), _return(_KILL), (_LOAD, 0, 0, _NUMBER)]
    if column == 0:
        # The same calls under other numbers.
        steps += [(_AT_LEAST, 0, 1, _X32), _refuse(errno.ENOSYS)]
    for numbers in DENIED.values():
        steps += [(_EQUAL, 0, 1, numbers[column]), _refuse(errno.ENOSYS)]
    steps += [
        (_EQUAL, 0, 4, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NAMESPACES),
        _refuse(errno.EPERM),
        _return(_ALLOW),
    ]
    if not families:
        steps += [
            (_EQUAL, 0, 4, _SOCKETPAIR[column]),
            (_LOAD, 0, 0, _SECOND_ARGUMENT),
            (_ANY_BIT, 0, 1, _DATAGRAM),
            _refuse(errno.EAFNOSUPPORT),
            _return(_ALLOW),
        ]
    steps += [(_EQUAL, 1, 0, _SOCKET[column]), _return(_ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    for family in families:
        steps += [(_EQUAL, 0, 1, family), _return(_ALLOW)]
    return [*steps, _refuse(errno.EAFNOSUPPORT)]


def install(families: tuple[int, ...]) -> bool:
    """Put the filter on this process and all that it will start; whether there is one now.

    The process must have said that it wants no new privileges.
    """
    steps = program(os.uname().machine, families)
    if steps is None:
        return False
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: a length and a pointer, with what lies between them.
    whole = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.c_void_p(ctypes.addressof(whole)), 0, 0) == 0)


def _return(value: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, value)


def _refuse(error: int) -> tuple[int, int, int, int]:
    return _return(_ERROR | error)
