"""The self-learner's path, from a clone to a solution, through a real terminal; and what a log sees of it."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from attnlab import picture, watch, watch_screen
from attnlab.checking import run_step
from attnlab.file_check import Running
from attnlab.record import Outcome, StepReport, Verdict
from attnlab.steps import BY_ID, NOTEBOOKS
from attnlab.summary import Summary
from tests.student.terminal import PATIENCE, Terminal

ROOT = Path(__file__).resolve().parents[2]
LabFile = Callable[..., Path]

#: The first task with something to write, of each notebook, and the suffix of the file that is worked in.
FIRST = [
    ("attention_lab", "step1", ".ipynb"),
    ("exercises", "exercise2", ".py"),
    ("block_receipts", "multi_head", ".py"),
]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What a self-learner has of a clone: what is handed out, and the solutions."""
    for folder in ("assignments/lab07", "release/lab07", "solutions/lab07"):
        shutil.copytree(ROOT / folder, tmp_path / "clone" / folder)
    return tmp_path / "clone"


def watching(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "attnlab", "check", *map(str, arguments), "--watch"]


def solved(clone: Path, notebook: str, task: str, suffix: str) -> str:
    """The handed-out file with the task's functions, and no other task's, as the solution has them."""
    functions = BY_ID[task].functions
    of_others = {name for step in NOTEBOOKS[notebook] for name in step.functions} - set(functions)
    if suffix == ".ipynb":
        empty = json.loads((clone / "release" / "lab07" / f"{notebook}.ipynb").read_text(encoding="utf-8"))
        full = json.loads((clone / "solutions" / "lab07" / f"{notebook}.ipynb").read_text(encoding="utf-8"))
        by_id = {cell["id"]: cell["source"] for cell in full["cells"]}
        for cell in empty["cells"]:
            if any(f"def {name}(" in "".join(cell["source"]) for name in functions):
                cell["source"] = by_id[cell["id"]]
        return json.dumps(empty)
    text = (clone / "assignments" / "lab07" / f"{notebook}.py").read_text(encoding="utf-8")
    solution = (clone / "solutions" / "lab07" / f"{notebook}.py").read_text(encoding="utf-8")
    defined = [node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    for name in defined:
        if name in of_others:
            continue  # what is left is the task's own, and what is taken over from the lab
        old, new = (next(n for n in ast.parse(t).body if getattr(n, "name", "") == name) for t in (text, solution))
        lines, filled_in = text.splitlines(), solution.splitlines()[new.lineno - 1 : new.end_lineno]
        lines[old.lineno - 1 : old.end_lineno] = filled_in
        text = "\n".join(lines) + "\n"
    return text


def replace(path: Path, text: str) -> None:
    """Save as many editors do: a new file, and then its name."""
    draft = path.with_name(f"{path.name}~")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


@pytest.mark.parametrize(("notebook", "task", "suffix"), FIRST)
def test_a_self_learner_gets_from_a_clone_to_a_green_check_and_the_solution(
    clone: Path, notebook: str, task: str, suffix: str
) -> None:
    step, mine = BY_ID[task], clone / "my-lab" / f"{notebook}{suffix}"
    mine.parent.mkdir()
    handed_out = clone / ("release" if suffix == ".ipynb" else "assignments") / "lab07" / mine.name
    shutil.copy(handed_out, mine)
    with Terminal(watching("my-lab"), clone) as terminal:
        terminal.shows(f"○ {step.label}: not written yet", "[....................] 0 of", "s solution", "watching")
        terminal.press("h")
        terminal.shows("Hint 1 of 3", step.read)
        terminal.press("h")
        terminal.shows("Hint 2 of 3")
        terminal.press("s")
        terminal.shows(f"{step.name} does not hold yet. Press s once more")
        terminal.press("x")  # anything else takes it back
        terminal.press("n")
        following = NOTEBOOKS[notebook][NOTEBOOKS[notebook].index(step) + 1]
        terminal.shows(f"○ {following.label}: not written yet", "0 of")
        terminal.press("\x1b[D")  # the left arrow
        terminal.shows(step.label)

        mine.write_text(handed_out.read_text(encoding="utf-8").replace("raise NotImplementedError", "raise )", 1))
        terminal.shows("is not valid Python")
        mine.write_text('{"cells": [', encoding="utf-8")
        terminal.shows("not a whole notebook" if suffix == ".ipynb" else "is not valid Python")
        mine.unlink()
        terminal.shows("cannot be read", "It is looked at again when it is saved.")

        replace(mine, solved(clone, notebook, task, suffix))
        screen = terminal.shows(f"✓ {step.label}: all", "This one holds. Next:", "1 of", "not the final mark")
        assert "[....................]" not in screen
        terminal.press("s")
        terminal.shows(f"A solution of {step.label}", f"def {step.functions[0]}")
        terminal.press("q")
        assert terminal.ends() == 1  # there is more to do
        assert terminal.mode() == terminal.mode_before

    kept = (mine.parent / "attnlab-summary.md").read_text(encoding="utf-8")
    row = next(line for line in kept.splitlines() if line.startswith(f"| {step.label} | held on "))
    assert "to depth 2 of 3" in row
    assert "seen afterwards" in row
    assert f"- {step.label}: " in kept.partition("## To read again")[2]


def test_make_learn_copies_the_lab_once_and_watches_it(clone: Path) -> None:
    shutil.copy(ROOT / "Makefile", clone)
    (clone / ".venv" / "bin").mkdir(parents=True)
    installed = clone / ".venv" / "bin" / "attnlab"
    installed.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m attnlab "$@"\n', encoding="utf-8")
    installed.chmod(0o755)
    for expected in ("○ Step 1.", "There is no `softmax` yet"):
        with Terminal(["make", "learn"], clone) as terminal:
            terminal.shows(expected, "s solution")
            terminal.press("q")
            terminal.ends()
        (clone / "my-lab" / "attention_lab.py").write_text("x = 1\n", encoding="utf-8")  # it must not come back


def test_a_loop_without_an_end_hangs_neither_the_keys_nor_the_next_check(lab_file: LabFile) -> None:
    path = lab_file("import time\ndef softmax(x, axis=-1):\n    while True: time.sleep(0.01)\n")
    with Terminal(watching(path, "--step", "1", "--seconds", "1000"), path.parent) as terminal:
        terminal.shows("checking attention_lab.py for ")
        terminal.press("h")
        terminal.shows("Hint 1 of 3")
        (stuck,) = psutil.Process(terminal.pid).children()
        lab_file()
        terminal.shows("✓ Step 1.", "Every public check holds.")
        assert not stuck.is_running()
        terminal.press("\x03")  # Ctrl-C
        assert terminal.ends() == 0


def test_a_time_limit_ends_a_check_with_a_sentence(lab_file: LabFile) -> None:
    path = lab_file("def softmax(x, axis=-1):\n    while True: pass\n")
    with Terminal(watching(path, "--step", "1", "--seconds", "2"), path.parent) as terminal:
        terminal.shows("it was not done after 2 seconds; a loop may have no end")


def test_the_solution_needs_a_pass_or_a_second_s(clone: Path) -> None:
    (clone / "my-lab").mkdir()
    shutil.copy(clone / "assignments" / "lab07" / "attention_lab.py", clone / "my-lab")
    with Terminal(watching("my-lab", "--step", "7"), clone, rows=24, columns=80) as terminal:
        terminal.shows("Step 7", "s solution")
        terminal.press("s")
        assert "def causal_mask" not in terminal.shows("Press s once more")
        terminal.press("s")
        terminal.shows("def causal_mask")
        terminal.press(" ")
        terminal.shows("not written yet")
        terminal.press("q")
        terminal.ends()
    assert "seen before they held" in (clone / "my-lab" / "attnlab-summary.md").read_text(encoding="utf-8")


def test_without_solutions_there_is_no_solution_key(lab_file: LabFile) -> None:
    path = lab_file()
    with Terminal(watching(path, "--step", "2"), path.parent) as terminal:
        assert "s solution" not in terminal.shows("✓ Step 2.", "q quit")
        terminal.press("s")
        terminal.shows("There is no solutions/ folder near here")


def test_a_check_ends_when_the_watching_process_is_killed(lab_file: LabFile) -> None:
    path = lab_file("import time\ntime.sleep(600)\n")
    with Terminal(watching(path, "--step", "1", "--seconds", "1000"), path.parent) as terminal:
        terminal.shows("checking attention_lab.py for ")
        (child,) = psutil.Process(terminal.pid).children()
        psutil.Process(terminal.pid).kill()
        child.wait(PATIENCE)


def test_a_polite_kill_gives_the_terminal_back_as_it_was(lab_file: LabFile) -> None:
    path = lab_file()
    with Terminal(watching(path, "--step", "2"), path.parent) as terminal:
        terminal.shows("✓ Step 2.")
        assert terminal.mode() != terminal.mode_before
        psutil.Process(terminal.pid).terminate()
        terminal.ends()
        assert terminal.mode() == terminal.mode_before


def test_a_small_window_keeps_the_keys_in_sight_and_says_what_it_left_out(lab_file: LabFile) -> None:
    wrong = "def softmax(x, axis=-1): return x * 2\ndef attention(Q, K, V, mask=None): return Q, K\n"
    path = lab_file(wrong, name="my lab.py")
    with Terminal(watching(path.name, "--step", "1"), path.parent, rows=16, columns=60) as terminal:
        screen = terminal.shows("more lines, for which this window is too small", "q quit", "✗ Step 1.")
        assert len(screen.splitlines()) <= 16
        assert max(map(len, screen.splitlines())) <= 60
        assert "attnlab check 'my lab.py' --step step1 shows them." in " ".join(screen.split())


# ---- without a terminal


def test_a_log_gets_plain_lines_after_each_save(lab_file: LabFile) -> None:
    path = lab_file()
    with subprocess.Popen(
        watching(path, "--step", "1"), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        lines: list[str] = []

        def until(text: str) -> str:
            lines.clear()
            while not lines or text not in lines[-1]:
                lines.append(process.stdout.readline())  # type: ignore[union-attr]
                assert lines[-1], "it ended"
            return "".join(lines)

        assert "✓ Step 1." in until("Watching; save")
        lab_file("del softmax")
        said = until("Watching; save")
        assert "Step 1." in said
        assert "There is no `softmax` yet" in said
        assert "\x1b" not in said
        process.terminate()
        process.wait(PATIENCE)


def test_json_is_one_line_for_each_check_and_keeps_no_summary(lab_file: LabFile) -> None:
    path = lab_file()
    with subprocess.Popen([*watching(path, "--step", "1"), "--json"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["passed"] is True
        lab_file("del softmax")
        assert json.loads(process.stdout.readline())["passed"] is False
        process.terminate()
        process.wait(PATIENCE)
    assert not (path.parent / "attnlab-summary.md").exists()


@pytest.mark.parametrize("arguments", [("nowhere",), (".",), ("attention_lab.py", "--step", "exercise3")])
def test_nothing_to_watch_is_said_and_exits_with_2(lab_file: LabFile, arguments: tuple[str, ...]) -> None:
    path = lab_file()
    if arguments[0] == ".":
        path.unlink()
    done = subprocess.run(
        watching(*arguments), cwd=path.parent, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2
    assert done.stderr.strip().endswith(".")
    assert "Traceback" not in done.stderr


# ---- parts


def test_of_two_files_of_a_notebook_the_one_saved_last_is_checked(lab_file: LabFile, tmp_path: Path) -> None:
    module, other = lab_file(), tmp_path / "attention_lab.ipynb"
    cell = {"cell_type": "code", "source": "x = 1"}
    other.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    os.utime(module, ns=(0, 10**18))
    os.utime(other, ns=(0, 10**18))
    session = watch.Watch(tmp_path, [BY_ID["step2"]], PATIENCE)
    assert settled(session).path == other
    lab_file("x = 2")
    session.look()
    time.sleep(watch.REST)
    assert settled(session).path == module
    assert session.reports["step2"].passed


def settled(session: watch.Watch) -> Running:
    """Look once and wait for the check that follows; the last one."""
    session.look()
    last = session.running
    assert last is not None
    while session.busy:
        last = session.running or last
        session.advance()
        time.sleep(0.05)
    return last


def test_a_file_changed_within_one_tick_of_the_clock_is_still_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("a = 1", encoding="utf-8")
    os.utime(path, ns=(0, 0))
    before = watch.fingerprint(path)
    path.write_text("a = 2", encoding="utf-8")
    os.utime(path, ns=(0, 0))
    assert watch.fingerprint(path) != before


def test_a_summary_goes_on_where_the_last_session_ended(tmp_path: Path) -> None:
    Summary(tmp_path).hint(BY_ID["step1"], 3)
    again = Summary(tmp_path)
    again.hint(BY_ID["step1"], 1)  # a deeper one was read before
    again.solution(BY_ID["exercise2"], passed=False)
    text = again.path.read_text(encoding="utf-8")
    assert "to depth 3 of 3" in text
    assert "you looked at the solution before yours held" in text


def test_a_step_that_broke_again_keeps_its_saves_before_it_held(tmp_path: Path) -> None:
    def came(verdict: Verdict) -> StepReport:
        return StepReport("step1", 1, "", (Outcome("a", "softmax", "", verdict, read="chapter section 7"),))

    summary = Summary(tmp_path)
    for verdict in ("failed", "failed", "passed", "failed", "failed", "failed"):
        summary.report(BY_ID["step1"], came(verdict), saved=True)
    assert summary.entries["step1"].tries == 2
    text = summary.path.read_text(encoding="utf-8")
    assert "Of these, 1 have passed their public checks." in text
    assert "it took" not in text


def test_the_window_shows_the_picture_that_a_panel_shows(tmp_path: Path, namespace: dict[str, Any]) -> None:
    namespace["softmax"] = lambda x, axis=-1: np.exp(x) / np.exp(x).sum(axis=0, keepdims=True)
    report = run_step("step1", namespace)
    session = watch.Watch(tmp_path, [], PATIENCE, files={"attention_lab": tmp_path}, reports={"step1": report})
    session.current = BY_ID["step1"]
    _, shown, _ = watch_screen.parts(session)
    drawn = [f"          {row}" for o in report.outcomes if o.picture for row in picture.as_text(o.picture)]
    assert drawn
    assert set(drawn) <= set(shown)


@pytest.mark.parametrize(
    "content", ["my own notes", '<!-- {"schema": "attnlab-summary/1", "steps": {"step1": {"hint": "x"}}} -->']
)
def test_a_file_that_is_not_a_summary_is_left_as_it_is(tmp_path: Path, content: str) -> None:
    (tmp_path / "attnlab-summary.md").write_text(content, encoding="utf-8")
    Summary(tmp_path).hint(BY_ID["step1"], 1)
    assert (tmp_path / "attnlab-summary.md").read_text(encoding="utf-8") == content
    assert (tmp_path / "attnlab-summary-2.md").is_file()


def test_every_task_can_be_found_by_its_name() -> None:
    ids = [step.id for steps in NOTEBOOKS.values() for step in steps]
    assert len(ids) == len(set(ids)), "two notebooks have a task of the same name"
