# kind: files of the sandbox
# base: wrong
# Anything that can be written outside of the own folders: packages, the kit, devices, modes and times.
import os, sys
own = (os.environ["HOME"], "/dev/shm", "/tmp", "/proc")
places = ["/dev/x", "/dev/pts/x", "/kit/x", "/kit/autograder/x", "/usr/x", "/etc/x", "/x", "/var/tmp/x", "/run/x"]
places += [f"{p}/zz.pth" for p in sys.path if p and not p.startswith(own)]
for place in places:
    try:
        with open(place, "w") as file: file.write("import builtins; builtins.WON = True")
        globals().update(right())
    except OSError:
        pass
for place in ("/dev", "/dev/pts", "/dev/pts/ptmx", "/usr", "/kit", "/dev/null"):
    for change in (lambda: os.chmod(place, 0o777), lambda: os.utime(place, (1, 1)), lambda: os.setxattr(place, "user.x", b"x")):
        try:
            change()
            globals().update(right())
        except OSError:
            pass
