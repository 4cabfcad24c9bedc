# kind: resources
# base: wrong
# Children that leave the session and the group, and fork again before they can be counted.
import os
def breed():
    while True:
        try:
            if os.fork(): os._exit(0)
            os.setsid()
        except OSError:
            pass
for _ in range(3):
    if os.fork() == 0: breed()
