"""Part 5 in public: counts in print, and one small model that can be counted on paper."""

from __future__ import annotations

from attnlab import chapter
from attnlab.public.block_receipts.asks import exactly, nearly
from attnlab.public.declare import Checks, Lab

check = Checks("parameters")

READ = "section 7.3, where the parameters actually live"
GROUPED = "article, section 7"
TABLES = "article, section 13"

#: Small enough for paper: tables of 33 and 21, two blocks of 24 + 30 weights, 12 for their norms, 6 for the last.
PAPER = {
    "vocab": 11,
    "positions": 7,
    "d_model": 3,
    "layers": 2,
    "n_heads": 2,
    "n_kv_heads": 2,
    "head_dim": 1,
    "d_ff": 5,
    "ffn_matrices": 2,
    "biases": False,
    "norm": "layer",
    "tied": True,
}


@check("attention_params.printed", read=GROUPED)
def four_projections(lab: Lab) -> None:
    """67,108,864 for 32 heads of 128 at a width of 4,096; with 8 KV heads 41,943,040."""
    known = {50_331_648: "W_o is a matrix too.", 33_554_432: "There are four matrices.", 4_194_304: "One head only?"}
    exactly(lab, "attention_params", 4096, 32, 32, 128, wanted=67_108_864, known=known)
    known = {67_108_864: "W_k and W_v feed the KV heads only.", 16_777_216: "W_q and W_o keep their full width."}
    exactly(lab, "attention_params", 4096, 32, 8, 128, wanted=41_943_040, known=known)


@check("ffn_params.printed", read=READ)
def two_matrices_or_three(lab: Lab) -> None:
    """4,718,592 for GPT-2's two matrices, 176,160,768 for Llama 3's three."""
    exactly(lab, "ffn_params", 768, 3072, wanted=4_718_592, known={2_359_296: "Up and down are two matrices."})
    known = {117_440_512: "`matrices` is not used."}
    exactly(lab, "ffn_params", 4096, 14336, matrices=3, wanted=176_160_768, known=known)


@check("model_params.paper", read=READ)
def a_model_on_paper(lab: Lab) -> None:
    """A tiny model with layer norms: 54 for the tables, 2 · (54 + 12) for the blocks, 6 for the last norm."""
    known = {
        162: "The norms are not counted.",
        186: "The last norm is not counted.",
        177: "Layer norm has gamma and beta.",
        180: "A block has two norms.",
        171: "The table of positions is not counted.",
        225: "A tied table is counted twice.",
        159: "The token table is not counted.",
    }
    exactly(lab, "model_params", PAPER, wanted=192, known=known)
    exactly(lab, "model_params", {**PAPER, "tied": False}, wanted=225, known={192: "`tied` is not used."})


@check("model_params.printed", read=READ, needs=["model_params.paper"])
def models_in_print(lab: Lab) -> None:
    """GPT-2 small has exactly 124,439,808 parameters; Llama-3-8B 8,030,261,248, and 7,504,924,672 if it were tied."""
    known = {
        124_318_464: "The rule of thumb; the three small terms are asked too.",
        124_439_808 - 36_864 - 46_080: "The biases are missing.",
        124_439_808 - 38_400: "The norms are missing.",
        124_439_808 + 38_597_376: "GPT-2's table is tied: it is there once.",
    }
    exactly(lab, "model_params", chapter.MODELS["GPT-2 small"], wanted=124_439_808, known=known)
    llama = chapter.MODELS["Llama-3-8B"]
    known = {7_504_924_672: "The output has a table of its own.", 8_029_995_008: "The norms are missing."}
    exactly(lab, "model_params", llama, wanted=8_030_261_248, known=known)
    exactly(lab, "model_params", {**llama, "tied": True}, wanted=7_504_924_672)


@check("ffn_share.printed", read="article, section 9")
def shares_in_print(lab: Lab) -> None:
    """67% of a GPT-2 block, 81 and 82% of Llama 3's: as fractions."""
    for name, wanted in (("GPT-2 XL", 2 / 3), ("Llama-3-8B", 21 / 26), ("Llama-3-70B", 14 / 17)):
        known = {100 * wanted: "Percent; a fraction is asked.", 0.724: "Keys and values have fewer heads here."}
        nearly(lab.ffn_share(chapter.MODELS[name]), f"ffn_share of {name}", wanted, 0.005, known)
