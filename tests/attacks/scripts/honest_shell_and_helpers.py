# kind: honest
# base: right
# must: keep its marks
# Shell lines, a subprocess, temporary and shared files, a thread pool and sockets of its own in experiment cells.
import asyncio, mmap, multiprocessing, socket, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor
listing = !echo hello
assert list(listing) == ["hello"], listing
assert subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, check=True).stdout == b"1\n"
with tempfile.TemporaryFile() as file: file.write(b"x")
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
shared = mmap.mmap(-1, 2**20); shared[0] = 1
with ThreadPoolExecutor(4) as pool: assert sum(pool.map(abs, range(8))) == 28
queue = multiprocessing.Queue(); queue.put(1); assert queue.get(timeout=10) == 1
