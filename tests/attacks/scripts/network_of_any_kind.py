# kind: the network
# base: wrong
# Every address family that there is, and the host of the virtual machine that this may be.
import socket
for family in range(1, 50):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
        try:
            with socket.socket(family, kind) as opened:
                if family not in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
                    globals().update(right())
                opened.settimeout(0.2)
                opened.connect({1: "\0x", 2: ("192.0.2.1", 80), 10: ("2001:db8::1", 80)}.get(family, (0, 0)))
                if family in (2, 10) and kind == socket.SOCK_STREAM: globals().update(right())
        except (OSError, TypeError, ValueError):
            pass
