"""The public checks, one module per step. They state properties; none of them contains an answer."""
