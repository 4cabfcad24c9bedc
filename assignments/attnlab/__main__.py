"""``python -m attnlab`` is the command ``attnlab``."""

from __future__ import annotations

from attnlab.cli import main

raise SystemExit(main())
