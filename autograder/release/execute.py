"""Run a solution notebook from top to bottom, and keep what it showed but not where it ran."""

from __future__ import annotations

import contextlib
import copy
import getpass
import os
import platform
import re
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from autograder.release.problem import Problem, Refused

#: Seconds that one cell may take; the longest measures a full schedule on a slow machine.
CELL_SECONDS = 900
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def execute(notebook: Any, where: str, packages: Path) -> Any:
    """Execute ``notebook`` in an empty folder, with ``packages`` importable. Raises ``Refused``.

    Files that it writes are thrown away; the outputs stay in the notebook, without names of machine, user and
    folders.
    """
    with TemporaryDirectory(prefix="notebook-") as scratch:
        environment = {
            **os.environ,
            "HOME": scratch,
            "IPYTHONDIR": scratch,
            "MPLCONFIGDIR": str(Path(scratch, ".matplotlib")),
            "PYTHONPATH": str(packages.resolve()),
            "PYTHONHASHSEED": "0",
        }
        for name in ("ATTNLAB_GRADING", "MPLBACKEND"):  # the notebook must measure, and show its plots
            environment.pop(name, None)
        about = copy.deepcopy(notebook.metadata)  # executing adds which Python it was here
        folder = Path(scratch, "lab")
        folder.mkdir()
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            kernel_name="python3",
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            extra_arguments=["--log-level=40"],  # or it warns that other users of this machine could listen
            resources={"metadata": {"path": str(folder)}},
        )
        try:
            client.execute(env=environment)
        except CellExecutionError as error:
            said = f"{error.ename}: {error.evalue}".strip().splitlines()[0]
            raise Refused(
                [Problem(where, f"Executing it stopped with {said}", "Mend that cell of the master.")]
            ) from None
        except CellTimeoutError:
            raise Refused(
                [
                    Problem(
                        where,
                        f"A cell ran for more than {CELL_SECONDS} seconds.",
                        "Make its experiment smaller.",
                    )
                ]
            ) from None
        except DeadKernelError:
            raise Refused(
                [Problem(where, "The kernel died while executing it.", "Run it by hand to see where.")]
            ) from None
        notebook.metadata = about
        _without_widgets(notebook)
        return anonymous(notebook, scratch)


def _without_widgets(notebook: Any) -> None:
    """Take out views of widgets, which need the kernel that made them; the text beside a view says what it was."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET_VIEW, None)


def anonymous(notebook: Any, *folders: str) -> Any:
    """``notebook`` with the names of this machine, its user and its ``folders`` replaced in every output."""
    here = (*folders, sys.prefix, sys.base_prefix, str(Path.cwd()), str(Path.home()))
    names = dict.fromkeys((*here, *(str(Path(folder).resolve()) for folder in here)), "…")
    names |= dict.fromkeys((socket.gethostname(), platform.node()), "this-machine")
    with contextlib.suppress(KeyError, OSError):  # a user without a name gives nothing away
        names[getpass.getuser()] = "me"
    # The longest first: a folder before the folder that it is in. Short words would be found inside others.
    patterns = [
        (re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])"), instead)
        for name, instead in sorted(names.items(), key=lambda pair: -len(pair[0]))
        if len(name) > 3 and name not in ("localhost", "root")
    ]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [_replaced(output, patterns) for output in cell.outputs]
    return notebook


def _replaced(value: Any, patterns: list[tuple[re.Pattern[str], str]]) -> Any:
    if isinstance(value, str):
        for pattern, instead in patterns:
            value = pattern.sub(instead, value)
        return value
    if isinstance(value, dict):
        return type(value)(
            {k: item if k.startswith("image/") else _replaced(item, patterns) for k, item in value.items()}
        )
    if isinstance(value, list):
        return [_replaced(item, patterns) for item in value]
    return value
