"""Draw this grader beside nbgrader and Otter anew, from a run of a quarter of an hour: ``python -m docs.draw_peers``.

The picture and the table of the README belong to one run on one machine: draw it where nothing else is at work.
"""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.cli import main

PICTURE = Path(__file__).parent / "images" / "peers.svg"

if __name__ == "__main__":
    sys.argv = ["autograder", "bench", "peers", "--copies", "30", "--svg", str(PICTURE)]
    main()
