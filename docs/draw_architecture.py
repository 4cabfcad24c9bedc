"""Draw the picture of docs/architecture.md anew: ``python -m docs.draw_architecture``. Needs nothing but Python."""

from __future__ import annotations

from html import escape
from pathlib import Path

PICTURE = Path(__file__).parent / "images" / "architecture.svg"
WIDTH, HEIGHT = 980, 560
LINE = 19  # pixels between two lines of text

TITLE = "From a master to what is handed out, and from a submission to a mark"
DESCRIPTION = (
    "Above, the instructor's side: a master and course.toml pass a gate and become what students, teaching assistants "
    "and self-learners get. Below, the grader's side: a submission is read as cells and runs in a sandbox. The oracle, "
    "another process, holds the hidden checks, the reference and the seed. Between the two go calls and arrays, never "
    "a pickle. The oracle's verdicts become one result, of which tables, pages and exports are renderings."
)

#: Dark where the reader's system is.
STYLE = """
svg{font:15px system-ui,sans-serif;background:#fff}
text{fill:#1b1f24} .small{font-size:13px;fill:#4b5563} .head{font-weight:600}
rect{fill:#f8fafc;stroke:#64748b;stroke-width:1.5}
.closed{fill:#fef2f2;stroke:#9f1239;stroke-width:2.5;stroke-dasharray:7 4}
.oracle{fill:#eff6ff;stroke:#1e40af;stroke-width:2.5} .file{fill:#fff}
path{stroke:#334155;stroke-width:1.8;fill:none;marker-end:url(#tip)} .both{marker-start:url(#tip)}
marker path{fill:#334155;stroke:none;marker-end:none}
@media (prefers-color-scheme:dark){svg{background:#14171c} text{fill:#e5e7eb} .small{fill:#b6bcc6}
rect{fill:#1f2630;stroke:#94a3b8} .closed{fill:#2a171c;stroke:#fda4af} .oracle{fill:#162033;stroke:#93c5fd}
.file{fill:#14171c} path{stroke:#cbd5e1} marker path{fill:#cbd5e1}}
"""

_CODE = ("the student's code,", "no network, limits,")
_CHECKS = ("hidden checks (pytest)", "reference in float64", "named mistakes")

#: x, y, width, height, class, heading, lines below it.
BOXES: tuple[tuple[int, int, int, int, str, str, tuple[str, ...]], ...] = (
    (20, 50, 210, 92, "file", "source/", ("one master per notebook", "course.toml: points, limits")),
    (300, 50, 230, 92, "", "autograder release", ("builds, and refuses what is", "broken, unfair or leaking")),
    (620, 20, 340, 46, "file", "release/, assignments/", ("for students: no solution, no check",)),
    (620, 82, 340, 46, "file", "solutions/", ("for assistants and self-learners",)),
    (620, 144, 340, 46, "file", "attnlab, the student package", ("public checks, hints, watch",)),
    (20, 290, 160, 92, "file", "submission", (".ipynb, .py, .zip,", "a download of an LMS")),
    (20, 440, 160, 92, "", "reading", ("files → cells;", "nothing is run")),
    (240, 300, 230, 220, "closed", "sandbox child", (*_CODE, "", "and nothing that a mark", "could be made from")),
    (590, 300, 230, 220, "oracle", "oracle", (*_CHECKS, "measured verdicts", "the course's seed")),
    (870, 300, 95, 62, "file", "result", ("one .json",)),
    (850, 440, 115, 92, "", "renderings", ("csv, pages,", "LMS, nbgrader")),
)  # fmt: skip

#: Path, class, and a label with the place where it stands.
ARROWS: tuple[tuple[str, str, tuple[str, int, int] | None], ...] = (
    ("M230 96 H292", "", None),
    ("M530 96 H612", "", None),
    ("M530 80 C570 70 570 43 612 43", "", None),
    ("M530 112 C570 122 570 167 612 167", "", None),
    ("M100 382 V432", "", None),
    ("M180 470 H232", "", None),
    ("M478 370 H582", "both", ("calls and arrays", 530, 358)),
    ("M478 430 H582", "both", ("never a pickle", 530, 450)),
    ("M820 332 H862", "", None),
    ("M917 362 V432", "", None),
    ("M415 142 V220 H705 V292", "", ("it grades solution and skeleton too", 560, 240)),
)


def picture() -> str:
    """The SVG."""
    marker = '<marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
    marker += 'orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z"/></marker>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-labelledby="title description">',
        f'<title id="title">{TITLE}</title><desc id="description">{DESCRIPTION}</desc>',
        f"<style>{STYLE}</style><defs>{marker}</defs>",
        _text(20, 30, "The instructor's side", "head"),
        _text(20, 268, "The grader's side", "head"),
        *(line for box in BOXES for line in _box(*box)),
    ]
    for path, kind, label in ARROWS:
        parts.append(f'<path class="{kind}" d="{path}"/>')
        if label is not None:
            parts.append(_text(label[1], label[2], label[0], "small", middle=True))
    return "\n".join([*parts, "</svg>", ""])


def _box(x: int, y: int, width: int, height: int, kind: str, heading: str, lines: tuple[str, ...]) -> list[str]:
    found = [f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>']
    top = y + (height - LINE * (len(lines) + 1)) // 2 + 15
    for number, line in enumerate((heading, *lines)):
        if line:
            found.append(_text(x + width // 2, top + number * LINE, line, "small" if number else "head", middle=True))
    return found


def _text(x: int, y: int, text: str, kind: str, *, middle: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    return f'<text class="{kind}" x="{x}" y="{y}"{anchor}>{escape(text)}</text>'


def main() -> None:
    """Write ``images/architecture.svg``."""
    PICTURE.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
