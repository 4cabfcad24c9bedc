"""Draw the screen of ``attnlab check --watch`` anew: ``python -m docs.draw_watch``. It is a real session."""

from __future__ import annotations

import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from tests.student.terminal import Terminal

ROOT = Path(__file__).resolve().parent.parent
PICTURE = Path(__file__).parent / "images" / "watch.svg"
COLUMNS, ROWS = 110, 34


def main() -> None:
    """Write ``images/watch.svg``: step 1 with a softmax over the wrong axis, and a hint."""
    with tempfile.TemporaryDirectory() as name:
        lab = Path(name, "my-lab")
        lab.mkdir()
        text = (ROOT / "solutions" / "lab07" / "attention_lab.py").read_text(encoding="utf-8")
        wrong = text.replace("np.sum(exponentials, axis=axis", "np.sum(exponentials, axis=0")
        if wrong == text:
            raise SystemExit("The solution of step 1 is written in another way now; adapt the mistake in this script.")
        (lab / "attention_lab.py").write_text(wrong, encoding="utf-8")
        shutil.copytree(ROOT / "solutions", Path(name, "solutions"))
        command = [sys.executable, "-m", "attnlab", "check", "my-lab", "--watch"]
        with Terminal(command, Path(name), rows=ROWS, columns=COLUMNS) as terminal:
            terminal.shows("✗ Step 1.", " of 8 steps", "watching")
            terminal.press("h")
            terminal.shows("Hint 1 of 3")
            screen = terminal.coloured()
    PICTURE.write_text(svg(screen), encoding="utf-8")


def svg(screen: str) -> str:
    """A picture of a terminal that shows ``screen``; it loads nothing from anywhere."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(re.sub(r"\x1b\[[0-9;?]*[HJKlh]|\r", "", screen)))
    drawn = console.export_svg(title="attnlab check my-lab --watch", theme=MONOKAI, unique_id="watch")
    without_fonts = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in without_fonts.splitlines()) + "\n"


if __name__ == "__main__":
    main()
