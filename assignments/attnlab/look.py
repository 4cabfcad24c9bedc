"""How everything that this package shows in a notebook looks: one style, a frame, a heading, code in prose."""

from __future__ import annotations

import os
import re
import sys
from html import escape

#: The variable that says where the chapter is on the web.
CHAPTER_URL = "ATTNLAB_CHAPTER_URL"

#: JupyterLab's own colours where it sets them, and otherwise a light and a dark set of our own.
_DARK = """{--al-ink:var(--jp-ui-font-color0,#e5e7eb);--al-soft:var(--jp-ui-font-color1,#b6bcc6);
--al-paper:var(--jp-layout-color0,#14171c);--al-good:#86efac;--al-bad:#fda4af;--al-wait:#cbd5e1}"""
#: What JupyterLab, VS Code and the classic Notebook call a light page and a dark one. Elsewhere the system decides.
_IS_LIGHT = '[data-jp-theme-light="true"],[data-vscode-theme-kind$="light"],.notebook_app'
_IS_DARK = '[data-jp-theme-light="false"],[data-vscode-theme-kind$="dark"],[data-vscode-theme-kind$="contrast"]'

#: They also indent lists, align tables and colour code in outputs, with selectors that only a longer one overrules.
STYLE = f"""
.attnlab{{--al-ink:var(--jp-ui-font-color0,#1b1f24);--al-soft:var(--jp-ui-font-color1,#4b5563);
--al-paper:var(--jp-layout-color0,#ffffff);--al-line:var(--jp-border-color1,#9ca3af);
--al-good:#166534;--al-bad:#9f1239;--al-wait:#4b5563}}
@media (prefers-color-scheme:dark){{body:not({_IS_LIGHT}) .attnlab{_DARK}}}
body:is({_IS_DARK}) .attnlab{_DARK}
"""
STYLE += """
.attnlab{color:var(--al-ink);background:var(--al-paper);border:1px solid var(--al-line);border-radius:6px;
padding:.6em .9em;margin:.3em 0;max-width:56em;font-family:var(--jp-ui-font-family,system-ui,sans-serif);
font-size:var(--jp-ui-font-size1,14px);line-height:1.5;overflow-wrap:anywhere}
section.attnlab p{margin:.1em 0}
section.attnlab p.title{font-size:1.1em;font-weight:600;margin:.1em 0 .2em}
section.attnlab * + p.title{margin-top:1.2em}
section.attnlab p.name{margin:.8em 0 .15em}
section.attnlab.attnlab code{color:inherit;background:rgba(127,127,127,.16);padding:0 .25em;border-radius:3px}
section.attnlab.attnlab p.name code{font-weight:600}
section.attnlab p.note{color:var(--al-soft);margin-top:.6em}
section.attnlab.attnlab ul{margin:0;padding:0;list-style:none}
section.attnlab.attnlab li{margin:.25em 0;padding-left:.6em;border-left:3px solid var(--al-edge,var(--al-line))}
section.attnlab details ul{margin-left:.4em}
section.attnlab summary{cursor:pointer}
section.attnlab summary:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.attnlab .passed{--al-edge:var(--al-good)}
.attnlab .failed,.attnlab .error{--al-edge:var(--al-bad)}
.attnlab b.state{color:var(--al-edge,var(--al-wait))}
section.attnlab table + p{margin-top:.6em}
section.attnlab progress{display:block;width:16em;max-width:100%;margin:.2em 0 .4em}
section.attnlab.attnlab table{border-collapse:collapse;color:var(--al-ink);font-size:inherit;margin:0;border:0}
section.attnlab.attnlab thead,section.attnlab.attnlab tr{background:none;border:0}
section.attnlab.attnlab th,section.attnlab.attnlab td{text-align:left;vertical-align:top;
padding:.2em 1.2em .2em 0;font-weight:normal;max-width:none;white-space:normal;background:none;border:0}
section.attnlab.attnlab thead th{font-weight:600;border-bottom:1px solid var(--al-line)}
section.attnlab.attnlab figure{margin:.3em 0 .5em;padding:0}
section.attnlab figcaption{color:var(--al-soft)}
section.attnlab .wide{overflow-x:auto;max-width:max-content;padding:2px}
section.attnlab .wide:focus-visible{outline:2px solid currentColor}
section.attnlab.attnlab figure table{width:auto;font-variant-numeric:tabular-nums}
section.attnlab.attnlab figure thead th{border:0;text-align:right;vertical-align:bottom;
overflow-wrap:normal}
section.attnlab.attnlab figure th,section.attnlab.attnlab figure td{padding:.1em .45em}
section.attnlab.attnlab figure th{color:var(--al-soft);font-weight:normal}
section.attnlab.attnlab figure tbody th{white-space:nowrap}
section.attnlab.attnlab figure tbody td{text-align:right;min-width:3em;white-space:nowrap;
border:1px solid var(--al-line);background:rgba(59,111,182,var(--al-shade,0))}
.attnlab .s1{--al-shade:.07}.attnlab .s2{--al-shade:.14}.attnlab .s3{--al-shade:.21}
.attnlab .s4{--al-shade:.28}.attnlab .s5{--al-shade:.35}
section.attnlab.attnlab figure td.bad{font-weight:700;outline:2px solid var(--al-bad);outline-offset:-3px}
"""


def framed(label: str, body: str) -> str:
    """``body`` (HTML) in the frame that screen readers call ``label``, with its style."""
    return f'<style>{STYLE}</style><section class="attnlab" aria-label="{escape(label)}">{body}</section>'


def heading(text: str, kind: str = "title", level: int = 4) -> str:
    """A heading for screen readers; as an ``<h4>`` it would stand in JupyterLab's table of contents a second time."""
    return f'<p class="{kind}" role="heading" aria-level="{level}">{text}</p>'


def prose(sentence: str) -> str:
    """Escaped, with `names` between backticks as code."""
    parts = escape(sentence).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 and at < len(parts) - 1 else part for at, part in enumerate(parts))


def reading(sentence: str) -> str:
    """A sentence on where to read, with the chapter's section as a link where the course has it on the web.

    A course says so in the variable ``ATTNLAB_CHAPTER_URL``, in which ``{section}`` becomes a number such as 7.2.
    """
    url = os.environ.get(CHAPTER_URL, "")
    section = re.search(r"chapter section (\d+(?:\.\d+)*)", sentence)
    if section is None or not url.startswith(("https://", "http://")):
        return prose(sentence)
    before, after = prose(sentence[: section.start()]), prose(sentence[section.end() :])
    address = escape(url.replace("{section}", section[1]), quote=True)
    return f'{before}<a href="{address}" target="_blank" rel="noreferrer">{section[0]}</a>{after}'


def say(shown: object) -> None:
    """Print what a notebook would show, where there is none to show it: in a script."""
    shell = sys.modules.get("IPython")
    in_notebook = shell is not None and shell.get_ipython() is not None
    if not in_notebook and not hasattr(sys, "ps1"):
        print(shown)
