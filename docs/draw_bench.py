"""Draw the pictures of ``autograder bench`` anew: ``python -m docs.draw_bench many`` or ``peers``.

``many`` takes a minute, from the costs that came with the program. ``peers`` takes a quarter of an hour on a machine
where nothing else is at work; the table of the README belongs to the same run.
"""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.cli import main

IMAGES = Path(__file__).parent / "images"
PICTURES = {
    "many": ["many", "--svg", str(IMAGES / "many.svg")],
    "peers": ["peers", "--copies", "30", "--svg", str(IMAGES / "peers.svg")],
}

if __name__ == "__main__":
    sys.argv = ["autograder", "bench", *PICTURES[sys.argv[1]]]
    main()
