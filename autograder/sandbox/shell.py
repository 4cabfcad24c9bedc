"""Runs cells as Jupyter does (IPython syntax, magics, top-level ``await``), without a screen.

One shell is made in the warm parent; each submission gets its copy by the fork.
"""

from __future__ import annotations

import ast
import sys
import types
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

_INSTALLERS = frozenset({"pip", "uv", "conda", "mamba", "micromamba"})


class _Compiler(CachingCompiler):
    """Names code after its cell, so that a message can say ``cell 7, line 3``."""

    label = "cell"

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return f"<{self.label}>"


class Shell(InteractiveShell):
    """IPython without display, history or graphical event loop."""

    compiler_class = _Compiler
    #: ``!pip install x`` in the first line of a cell: the usual way needs a terminal, and without one the cell ended.
    system = InteractiveShell.system_raw

    def enable_gui(self, gui: Any = None) -> None:
        """``%matplotlib`` asks for an event loop; there is none, and none is needed."""

    def enable_matplotlib(self, gui: str | None = None) -> Any:
        """Pictures go nowhere, also where ``%matplotlib widget`` or ``qt`` asks for what is not installed here."""
        return super().enable_matplotlib("inline")  # type: ignore[no-untyped-call]

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> Any:
        """What needs a screen, an extension or a network (``%autosave``, ``%load_ext``, ``%pip``) does nothing: the
        cell goes on."""
        if magic_name in _INSTALLERS:
            return None
        try:
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        except UsageError:
            if self.find_line_magic(magic_name) is not None:  # type: ignore[no-untyped-call]
                raise
        except ModuleNotFoundError:
            if magic_name not in ("load_ext", "reload_ext"):
                raise
        return None

    def ask_exit(self) -> None:
        """After ``exit()`` Jupyter runs the cell to its end; here the cells after it run too."""

    def should_run_async(self, raw_cell: str, **known: Any) -> bool:
        """IPython compiles each cell once more to find out. What is asynchronous says so."""
        said = "await" in raw_cell or "async" in raw_cell
        return said and bool(super().should_run_async(raw_cell, **known))

    def transform_cell(self, raw_cell: str) -> str:
        """Only what is not Python yet goes through IPython's own transformation: it takes 0.1 s for 250 lines."""
        try:
            ast.parse(raw_cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return str(super().transform_cell(raw_cell))  # type: ignore[no-untyped-call]
        return raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"

    def showtraceback(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is printed: formatting a hostile exception could take for ever."""

    def showsyntaxerror(self, *args: Any, **kwargs: Any) -> None:
        """As ``showtraceback``."""


def make_shell() -> tuple[Shell, dict[str, Any]]:
    """The shell and the namespace that cells run in, which is also the module ``__main__``."""
    module = types.ModuleType("__main__")
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.ast_node_interactivity = "none"
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.autoindent = False
    shell = Shell.instance(config=config, user_module=module, user_ns=module.__dict__)
    sys.modules["__main__"] = module
    module.__dict__.setdefault("__name__", "__main__")
    return shell, module.__dict__


def run_cell(shell: Shell, source: str, label: str) -> BaseException | None:
    """Run one cell; what it raised, or None."""
    _Compiler.label = label
    try:
        result = shell.run_cell(source, store_history=False)  # type: ignore[no-untyped-call]
    except BaseException as error:
        return error
    found: BaseException | None = result.error_before_exec or result.error_in_exec
    return found
