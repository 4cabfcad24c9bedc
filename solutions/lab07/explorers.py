# %% [markdown]
# # Explorers: chapter 7 in seven pictures
#
# Seven figures to play with, one for each idea of the chapter. Nothing here is marked and nothing is handed in.
# Each figure starts from the chapter's own numbers and computes the rest while you move things; *Back to the
# start* brings its first state back. Everything works with the mouse, with a finger and with the keyboard, and the
# sentence under a figure says what it shows.
#
# Each is also a page that needs neither a kernel nor a network: in the folder `explorers` of the lab, or written anew
# with `attnlab explore --write explorers`.

# %%
from __future__ import annotations

import numpy as np

from attnlab import experiment
from attnlab.chapter import PRINTED
from attnlab.explorers import explore

# %% [markdown]
# ## 1. What a head looks at (7.1)
#
# **Try:** choose the row of `it` under each of the three heads. Then type another last word, and lean the pronoun the
# way that you would read the sentence.
#
# **Notice:** the map follows the slider and not the word. What a head looks at does not say why. Exercise 1 asks what
# follows from that.

# %%
explore("attention-head")

# %% [markdown]
# ## 2. One attention layer, stage by stage (7.2)
#
# **Try:** step from 1 to 5 with the row of `içti`, and follow its arithmetic on paper. At stage 4 turn the causal mask
# on, then the division by √dₖ off, then make the queries eight times longer.
#
# **Notice:** without the division the weights move only a little at d_k = 2. With long queries they go to one key,
# whatever you divide by.

# %%
layer = explore("attention-layer")
layer

# %% [markdown]
# What a figure shows can be read in Python too: run the next cell after the figure has appeared, and again after you
# have moved something. To set a figure from Python: `layer.state = {"causal": True}`.

# %%
if experiment(__name__):
    print("içti in the chapter:", PRINTED["weights"][2])
    print("içti in the figure: ", np.round(layer.shown["weights"][2], 4) if layer.shown else "not shown yet; run this cell again")

# %% [markdown]
# ## 3. Queries and keys in the plane (7.2)
#
# **Try:** drag the key of `kedi` until it points exactly along the query of `içti`, then make it shorter and shorter.
#
# **Notice:** a key can point the right way and lose, because it is short. Nothing about the weights is a look-up: it is
# angle and length.

# %%
explore("query-key-plane")

# %% [markdown]
# ## 4. The residual stream, stage by stage (7.3)
#
# **Try:** go from stage 1 to 4. Then go back to stage 2 and leave out one head, then the other.
#
# **Notice:** no part replaces anything, each adds. With everything off the tokens leave as they came. The detectors
# that ask for two things at once need what attention has written one stage before.

# %%
explore("residual-stream")

# %% [markdown]
# ## 5. Sinusoidal positions as a picture (7.4)
#
# **Try:** hold the offset and move p; then hold p and take the offset from 16 to 32. Set d_model to 4 and to 128.
#
# **Notice:** the dot product depends on the offset and on nothing else, but it is not smaller for every larger
# offset.

# %%
explore("sinusoids")

# %% [markdown]
# ## 6. Which token may look at which (7.5)
#
# **Try:** the three masks in turn. Under the causal one, close the only cell that `kedi` has. Then zero the weights
# after the softmax instead of hiding the scores before it.
#
# **Notice:** the last token loses nothing to a causal mask. Rows that were zeroed afterwards do not sum to 1, and a
# softmax over no keys at all does not exist.

# %%
explore("masks")

# %% [markdown]
# ## 7. The KV cache calculator (7.6)
#
# **Try:** go from 32 to 8 to 1 KV heads. Then load the 70B class with 64 and with 8 heads and set four requests at the
# same time.
#
# **Notice:** the number of query heads does not enter. GB are 10⁹ bytes and GiB are 2³⁰: at these sizes they differ by
# 7 percent.

# %%
explore("kv-cache")
