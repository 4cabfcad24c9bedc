"""The explorers' JavaScript, run by Node: what the figures would show for a state."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnlab.explorers import bundle, find

_NO_JSON = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
#: Answers a list of states; what JSON cannot say goes as text.
_SCRIPT = """
import {{ cleaned, explorer }} from {module};
const states = JSON.parse(await new Promise((done) => {{
  let text = "";
  process.stdin.on("data", (part) => (text += part)).on("end", () => done(text));
}}));
const tidy = explorer.tidy ?? ((state) => state);
const plain = (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);
const answers = states.map((given) => {{
  const state = tidy(cleaned(explorer.start, explorer.limits, given));
  const numbers = explorer.numbers(state);
  return {{ state, numbers, finding: explorer.finding(state, numbers) }};
}});
process.stdout.write(JSON.stringify(answers, plain));
"""


def node() -> str | None:
    """Where Node is, if it is there."""
    return shutil.which("node")


def answers(folder: Path, name: str, states: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """``state``, ``numbers`` and ``finding`` of an explorer for each of these states."""
    module = folder / f"{name}.mjs"
    exported = bundle.module(find(name)).replace("export { explorer };", "export { cleaned, explorer };")
    module.write_text(exported, encoding="utf-8")
    ran = folder / f"{name}-run.mjs"
    ran.write_text(_SCRIPT.format(module=json.dumps(module.as_uri())), encoding="utf-8")
    found = node()
    assert found is not None
    asked = json.dumps(list(states))
    command = [found, str(ran)]
    done = subprocess.run(command, input=asked, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return [_numbers(answer) for answer in json.loads(done.stdout)]


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return _NO_JSON.get(value, value) if isinstance(value, str) else value
