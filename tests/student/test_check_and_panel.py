"""``check`` and ``progress`` as a notebook meets them, and what the panel shows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from attnlab import check, experiment, picture, progress
from attnlab.checking import run_step
from attnlab.panel import Panel
from attnlab.record import Outcome, StepReport


def call(names: dict[str, Any], source: str) -> Any:
    """The value of an expression in a student's namespace, as a notebook evaluates it."""
    return eval(source, {"check": check, "progress": progress, **names, "__name__": "__main__"})


def test_check_sees_the_names_of_the_place_where_it_is_called(namespace: dict[str, Any]) -> None:
    panel = call(namespace, 'check("step1")')
    assert panel.passed
    assert not call({}, 'check("step1")').passed


@pytest.mark.parametrize("step", ["'step1'", "1", "'1'", "'Step 1'", "'step1', 'step2'"])
def test_a_step_may_be_named_in_any_usual_way(step: str, namespace: dict[str, Any]) -> None:
    assert call(namespace, f"check({step})").passed


@pytest.mark.parametrize(
    "given",
    [
        "...",
        "(softmax, attention, self_attention)",
        "{'softmax': softmax, 'attention': attention, 'self_attention': self_attention}",
        "SimpleNamespace(softmax=softmax, attention=attention, self_attention=self_attention)",
        # Lambdas have no name of their own: then the order of the task counts.
        "[lambda x, axis=-1: softmax(x, axis), attention, self_attention]",
    ],
)
def test_functions_can_be_handed_in(given: str, namespace: dict[str, Any]) -> None:
    assert call({**namespace, "SimpleNamespace": SimpleNamespace}, f"check(step1={given})").passed


def test_where_one_function_is_handed_in_the_report_is_about_that_one(namespace: dict[str, Any]) -> None:
    namespace["mine"] = namespace.pop("attention")
    panel = call(namespace, "check(step1=mine)")
    assert panel.passed
    assert {o.function for o in panel.reports[0].outcomes} == {"attention"}
    assert not call(namespace, "check(step1={'softmax': lambda x, axis=-1: x})").passed


@pytest.mark.parametrize(
    "source", ["check()", "check('step9')", "check(step1=3)", "check(step1=(len, max))", "check(stepX=...)"]
)
def test_a_wrong_call_is_answered_with_a_sentence(source: str) -> None:
    panel = call({}, source)
    assert not panel.passed
    assert str(panel).strip()


def test_checks_are_silent_while_a_grader_loads_the_lab(
    namespace: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ATTNLAB_GRADING", "1")
    assert call(namespace, 'check("step1")') is None
    assert call(namespace, "progress()") is None
    assert experiment("__main__") is False
    assert capsys.readouterr() == ("", "")


def test_checks_are_silent_where_a_module_is_imported(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "attention_lab"}
    exec("from attnlab import check, progress\nfound = check('step1'), progress()", names)
    assert names["found"] == (None, None)
    assert capsys.readouterr().out == ""


def test_an_experiment_runs_in_a_notebook_and_not_on_import() -> None:
    assert experiment("__main__") is True
    assert experiment("attention_lab") is False


def test_progress_shows_every_step_and_the_next_one(namespace: dict[str, Any]) -> None:
    del namespace["causal_mask"]
    text = str(call(namespace, "progress()"))
    assert "Step 1" in text
    assert "Step 8" in text
    assert "Next: step 4" in text
    assert "Hidden checks exist" in text


def test_a_script_prints_its_panel_once(
    namespace: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    call(namespace, 'check("step7")')
    assert capsys.readouterr().out.count("Step 7.") == 1


def test_importing_the_package_loads_neither_numpy_nor_torch() -> None:
    source = (
        "import sys, attnlab; assert not {'numpy', 'torch', 'matplotlib'} & set(sys.modules)\n"
        "from attnlab import check, plots, deliverable, meters, guard, tiny_lm, chapter\n"
        "assert not {'torch', 'matplotlib'} & set(sys.modules)\n"
        "assert callable(check) and callable(attnlab.check)"
    )
    subprocess.run([sys.executable, "-c", source], check=True, timeout=60)


# ------------------------------------------------------------------ panel

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e\x1b[31m`</code>`"


class Page(HTMLParser):
    """Collects the tags, attributes and text of a panel."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_panel_escapes_whatever_a_student_wrote() -> None:
    def softmax(x: Any, axis: int = -1) -> Any:
        raise type(HOSTILE, (Exception,), {})(HOSTILE)

    html = Panel((run_step("step1", {"softmax": softmax}),))._repr_html_()
    page = Page(html)
    assert set(page.tags) <= {"style", "section", "ul", "li", "p", "b", "code", "details", "summary"}
    assert set(page.attributes) <= {"class", "aria-label", "role", "aria-level"}
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "alert(1)" in page.text  # shown as text


def test_a_hostile_outcome_cannot_leave_its_element() -> None:
    outcome = Outcome(HOSTILE, HOSTILE, HOSTILE, "failed", HOSTILE, HOSTILE, HOSTILE)
    panel = Panel((StepReport("step1", 1, HOSTILE, (outcome,), HOSTILE, HOSTILE),))
    assert "<script" not in panel._repr_html_()
    assert "<img" not in panel._repr_html_()


def test_a_panel_says_in_words_what_its_colours_say(namespace: dict[str, Any]) -> None:
    namespace["attention"] = lambda Q, K, V, mask=None: (V, Q @ K.swapaxes(-1, -2))
    bundle = call(namespace, 'check("step1")')._repr_mimebundle_()
    for text in (Page(bundle["text/html"]).text, bundle["text/plain"]):
        assert "✓ holds" in text
        assert "✗ does not hold" in text
        assert "What it most looks like" in text
        assert "Read: chapter section 7" in text
        assert "Hidden checks exist too" in text
        assert "not the final mark" in text


def test_a_panel_needs_nothing_from_the_network(namespace: dict[str, Any]) -> None:
    html = call(namespace, 'check("step1")')._repr_html_()
    assert "http" not in html
    assert "url(" not in html


def test_where_to_read_is_a_link_where_the_course_has_the_chapter_on_the_web(
    namespace: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace["softmax"] = over_queries
    monkeypatch.setenv("ATTNLAB_CHAPTER_URL", 'https://example.org/"ch7#{section}')
    html = call(namespace, 'check("step1")')._repr_html_()
    assert 'href="https://example.org/&quot;ch7#7.2"' in html
    assert ">chapter section 7.2</a>, step 4." in html
    monkeypatch.setenv("ATTNLAB_CHAPTER_URL", "javascript:alert(1)//{section}")
    assert "<a " not in call(namespace, 'check("step1")')._repr_html_()


def test_a_report_survives_the_way_through_json(namespace: dict[str, Any]) -> None:
    report = run_step("step4", namespace)
    assert StepReport.from_dict(json.loads(json.dumps(report.as_dict()))) == report


# ---------------------------------------------------------------- picture


def over_queries(x: Any, axis: int = -1) -> Any:
    shares = np.exp(x - x.max())
    return shares / shares.sum(axis=0, keepdims=True)


def test_a_mismatch_that_a_picture_explains_has_one_in_every_form(namespace: dict[str, Any]) -> None:
    namespace["softmax"] = over_queries
    bundle = call(namespace, 'check("step1")')._repr_mimebundle_()
    page = Page(bundle["text/html"])
    assert "✗ 1.91" in page.text  # the row sums of what came back, with words for what they must be
    assert "every row must sum to 1" in page.text
    assert "  row 0     0.61     0.78     0.42     0.10  ✗ 1.91" in bundle["text/plain"]
    assert set(page.tags) >= {"figure", "figcaption", "table", "th"}


def test_a_picture_marks_what_breaks_a_property_and_never_what_should_be_there(namespace: dict[str, Any]) -> None:
    right = namespace["worked_example"]
    namespace["worked_example"] = lambda *given: {**right(*given), "scores": right(*given)["scores"].T}
    outcome = next(o for o in run_step("step2", namespace).outcomes if o.verdict == "failed")
    assert outcome.picture is not None
    # Of an exchange of rows and columns everything is off but the diagonal.
    assert {(i, j) for i in range(4) for j in range(4) if i != j} == set(outcome.picture.wrong)


@pytest.mark.parametrize("shape", [(9, 3), (2, 2, 2), (4,), (0, 3)])
def test_what_is_no_small_matrix_has_no_picture(shape: tuple[int, ...]) -> None:
    assert picture.shares(np.ones(shape), "theirs") is None


def test_a_picture_says_nan_and_infinity_and_does_not_round_a_mistake_away() -> None:
    shown = picture.shares(np.array([[np.nan, np.inf], [0.5, 0.5001], [1.0, 0.0]]), "theirs")
    assert shown is not None
    assert shown.cells[0] == ("NaN", "∞")
    assert shown.sums == ("NaN", "1.0001", "1.00")
    assert shown.off == (0, 1)


def test_a_report_with_a_picture_survives_the_way_through_json(namespace: dict[str, Any]) -> None:
    namespace["softmax"] = over_queries
    report = run_step("step1", namespace)
    assert any(outcome.picture for outcome in report.outcomes)
    assert StepReport.from_dict(json.loads(json.dumps(report.as_dict()))) == report


# --------------------------------------------------------------- progress


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the released notebooks, in which the caller works."""
    for name in ("attention_lab", "exercises"):
        shutil.copy(Path(__file__).parents[2] / "release" / "lab07" / f"{name}.ipynb", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("released")
def test_progress_says_what_is_in_reach_and_what_is_left(namespace: dict[str, Any]) -> None:
    del namespace["kv_cache_bytes"]
    panel = call(namespace, "progress()")
    text = str(panel)
    worth = {step: one.checks for step, one in panel.worth.items()}
    whole = sum(one.checks + one.person for one in panel.worth.values())
    held = sum(worth[step] for step in worth if step != "step8")
    assert f"This notebook is worth {whole:g} points: hidden checks decide {sum(worth.values()):g}" in text
    assert f"What holds here is worth {held:g} of these {sum(worth.values()):g}, if the hidden checks agree." in text
    assert "Not written yet: `kv_cache_bytes`." in text
    assert "exercises.ipynb" in text
    assert "0 of 12 functions written" in text
    assert "block_receipts: not in this folder." in text
    assert "Hidden checks exist" in text
    html = Page(panel._repr_html_())
    assert "Not written yet: kv_cache_bytes." in html.text
    assert set(html.tags) <= {
        *("style", "section", "p", "b", "code", "progress", "table", "thead", "tbody", "tr", "th", "td")
    }


def test_progress_knows_which_notebook_calls(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(released / "exercises.ipynb"))
    assert "Exercise 11" in str(call({}, "progress()"))
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert "Step 8" in str(call({}, "progress()"))
    assert "Exercise 11" in str(call({"rope": len, "in_units": len}, "progress()"))
    with pytest.raises(ValueError, match="no notebook 'lab'"):
        call({}, "progress('lab')")
