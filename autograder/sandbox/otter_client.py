"""Otter's client as a submission meets it while it is graded: ``grader.check("step1")`` does nothing, at once.

The real one takes seconds to import, looks for a folder of tests that is not here, and writes a log.
"""

from __future__ import annotations

import sys
import types


class Notebook:
    """What ``otter.Notebook(...)`` gives back: every method of Otter's takes what it is given and does nothing."""

    def __init__(self, *args: object, **keywords: object) -> None:
        pass

    def _nothing(self, *args: object, **keywords: object) -> None:
        pass

    add_plugin_files = check = check_all = export = run_plugin = to_pdf = _nothing


def install() -> None:
    """Make it what ``import otter`` finds in this process and its forks."""
    module = types.ModuleType("otter")
    vars(module)["Notebook"] = Notebook
    sys.modules["otter"] = module
