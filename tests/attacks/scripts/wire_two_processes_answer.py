# kind: the wire
# base: wrong
# The call forks, and both processes go on as the runner.
import os
def twice(shape):
    os.fork()
    return np.full(shape, 7.0)
lie_everywhere(twice)
