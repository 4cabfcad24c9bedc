"""The notebook ``linear_layers`` of lab 2: the layer, and the slopes by which it learns."""

from __future__ import annotations

from attnlab.step import Step

LINEAR_LAYERS: tuple[Step, ...] = (
    Step("layer", 1, "The layer", ("linear",), "lab 2, part 1", notebook="linear_layers"),
    Step("gradients", 2, "The slopes", ("loss_gradients",), "lab 2, part 2", notebook="linear_layers"),
)
