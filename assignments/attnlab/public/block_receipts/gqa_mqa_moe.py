"""Part 9 in public: the order of repeated heads, the numbers in print, and one small router."""

from __future__ import annotations

import numpy as np

from attnlab.public.answers import array, mapping, number, pair, same
from attnlab.public.block_receipts.asks import exactly
from attnlab.public.declare import Checks, Lab, Mistake

check = Checks("gqa_mqa_moe")

GQA = "section 7.6, GQA and MQA"
MOE = "section 7.7"


@check("expand_kv.order", read=GQA)
def groups_stay_together(lab: Lab) -> None:
    """Two KV heads for four query heads come as 0, 0, 1, 1."""
    heads = np.array([[[0.0]], [[1.0]]])
    found = array(lab.expand_kv(heads, 2), "expand_kv of two heads", (4, 1, 1)).ravel().tolist()
    if found != [0, 0, 1, 1]:
        guess = "They are tiled; neighbouring query heads share a KV head." if found == [0, 1, 0, 1] else ""
        raise Mistake(f"The heads come as {found}.", guess)


@check("kv_table.printed", read=GQA)
def caches_in_print(lab: Lab) -> None:
    """32 layers, 32 heads of 128, 8 KV heads, 100,000 tokens: 52.4288, 13.1072 and 1.6384 GB."""
    found = mapping(lab.kv_table(32, 32, 8, 128, 100_000), "kv_table", ("mha", "gqa", "mqa"))
    for name, wanted in (("mha", 52_428_800_000), ("gqa", 13_107_200_000), ("mqa", 1_638_400_000)):
        came = number(found[name], f"`{name}`")
        if came != wanted:
            known = {
                wanted / 2: "Keys and values are both kept.",
                wanted / 1e9: "GB; bytes are asked.",
                52_428_800_000: "Query heads are not in the formula of this scheme.",
            }
            raise Mistake(f"`{name}` is {came:,.7g} bytes; it should be {wanted:,}.", known.get(came, ""))


@check("top_k_router.gates", read=MOE)
def two_of_four_experts(lab: Lab) -> None:
    """Scores 0, ln 3, -1 and ln 9: the two best share 1 as 1 to 3, and the others get nothing."""
    x, W_r = np.array([[1.0]]), np.array([[0.0, np.log(3.0), -1.0, np.log(9.0)]])
    found = array(lab.top_k_router(x, W_r, 2), "top_k_router", (1, 4))[0]
    if not np.abs(found - [0.0, 0.25, 0.0, 0.75]).max() <= 1e-9:
        e = np.array([1.0, 3.0, np.exp(-1.0), 9.0])
        guess = ""
        if same(found, e / e.sum()):
            guess = "All four experts get a share; only the k best run."
        elif same(found, e / e.sum() * [0, 1, 0, 1]):
            guess = "The softmax is over all four; over the chosen ones alone they share 1."
        elif found[2] > 0:
            guess = "The experts with the smallest scores are chosen, or scores of 0 take part."
        raise Mistake(f"The gates are {np.round(found, 4).tolist()}; they should be [0, 0.25, 0, 0.75].", guess)


@check("moe_params.printed", read=MOE)
def total_and_active(lab: Lab) -> None:
    """A width of 4,096, experts of 16,384, 32 layers, 8 experts, 2 of them active: 36.5 and 10.7 billion."""
    found = pair(lab.moe_params(4096, 16_384, 32, 8, 2), "moe_params", "total", "active")
    total, active = number(found[0], "`total`"), number(found[1], "`active`")
    if (total, active) != (36_507_222_016, 10_737_418_240):
        guess = ""
        if (active, total) == (36_507_222_016, 10_737_418_240):
            guess = "Total comes first."
        elif total == 34_359_738_368:
            guess = "Attention has parameters too."
        elif total - 36_507_222_016 in (32 * 4096 * 8, 4096 * 8):
            guess = "The router is left out here, as in the chapter."
        raise Mistake(f"They are {total:,.0f} and {active:,.0f}.", guess)


@check("moe_bytes.resident", read=MOE)
def everything_is_held(lab: Lab) -> None:
    """100 shared parameters and 8 experts of 10, in 2 bytes each: 360 bytes, however many experts run."""
    known = {160: "The shared part is held too.", 240: "Any expert may be chosen: all are held.", 1760: "Shared: once."}
    for active in (2, 1, 8):
        exactly(lab, "moe_bytes", 100, 8, 10, active, 2, wanted=360, known=known)
