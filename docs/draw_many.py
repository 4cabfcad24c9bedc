"""Draw the time of a large class against the number of workers anew: ``python -m docs.draw_many``.

The costs are those that came with the program; ``autograder bench many --from DIR --record FILE`` records others.
"""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.cli import main

PICTURE = Path(__file__).parent / "images" / "many.svg"

if __name__ == "__main__":
    sys.argv = ["autograder", "bench", "many", "--svg", str(PICTURE)]
    main()
