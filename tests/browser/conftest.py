"""A browser for these tests; they are skipped, with the reason, where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser import chromium


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker("browser")
            item.add_marker(pytest.mark.skipif(bool(chromium.missing()), reason=chromium.missing()))


@pytest.fixture(scope="package")  # while playwright runs, no other test could start an event loop
def browser() -> Iterator[Any]:
    with chromium.started() as browser:
        yield browser
