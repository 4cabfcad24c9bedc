"""What an explorer is made of: one text that loads nothing, the same every time, in which data is never markup."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import Any

import pytest

from attnlab.explorers import EXPLORERS, bundle, explore

JAVASCRIPT = sorted((Path(bundle.__file__).parent / "js").glob("*.js"))


@pytest.fixture(params=list(EXPLORERS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_page_is_the_same_every_time_and_names_no_address(name: str) -> None:
    page = explore(name).page()
    assert page == explore(name).page()
    assert re.findall(r"https?://[^\"' ]+", page) == ["http://www.w3.org/2000/svg"]
    assert page.count("</script>") == 1
    assert "import " not in page.partition("<script")[2]


def test_every_module_is_in_it_once_and_none_is_imported(name: str) -> None:
    module = bundle.module(EXPLORERS[name])
    assert not re.search(r"^import ", module, re.MULTILINE)
    declared = re.findall(r"^(?:const|let|function) (\w+)", module, re.MULTILINE)
    assert len(declared) == len(set(declared))


@pytest.mark.parametrize("file", JAVASCRIPT, ids=lambda file: file.name)
def test_text_enters_as_text(file: Path) -> None:
    source = file.read_text(encoding="utf-8")
    for way_in in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert way_in not in source


def test_an_explorer_costs_nothing_before_it_is_shown_and_says_what_it_is(name: str) -> None:
    figure = explore(name)
    assert figure._widget is None
    assert f"attnlab explore {name}" in repr(figure)


def test_a_notebook_gets_the_widget_and_a_text(name: str) -> None:
    figure = explore(name)
    shown = figure._repr_mimebundle_()
    assert shown["application/vnd.jupyter.widget-view+json"]["model_id"]
    assert shown["text/plain"] == repr(figure)
    figure.state = {"causal": True}
    assert figure.state["causal"] is True


def test_without_anywidget_the_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("attnlab.explorers.widget"):
            raise ImportError("No module named 'anywidget'")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install anywidget"):
        _ = explore("masks").widget


def test_a_name_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(LookupError, match="attention-head, attention-layer, query-key-plane"):
        explore("softmax")
    assert "kv-cache" in str(explore())
