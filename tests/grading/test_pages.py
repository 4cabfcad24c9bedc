"""The pages: self-contained, readable without colour, and nothing of a submission is live in them."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import numpy as np
import pytest
from handmade import CHECKS, facts, outcomes, result

from autograder import marks, results
from autograder.course import Course
from autograder.pages import figures
from autograder.pages.class_page import class_page
from autograder.pages.feedback import feedback, look_first
from autograder.pages.publish import publish
from autograder.pages.render import prose
from autograder.pages.reveals import Reveals, reveals
from autograder.pages.words import UNDECIDED, WORDING, in_order
from autograder.policy import Feedback
from autograder.result import Example, Overruled, Picture
from autograder.results import Kept

HOSTILE = "</title></style></bdi><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*191 }}'\"&\u202e"


@dataclass(frozen=True)
class Hint:
    hint: str
    read: str
    source: str = ""


HINTS = {"no_scale": Hint("The scores were not divided by anything.", "7.2, step 3")}


class Tags(HTMLParser):
    """The tags and attributes that a browser would see."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def hostile(course: Course) -> Kept:
    made = outcomes(attention__mask="failed", softmax__rows="submission_error")
    for outcome in made:
        outcome.message = HOSTILE
    made[4].suspect = HOSTILE
    return Kept("hostile", marks.assemble(made, course, facts(HOSTILE, message=HOSTILE)))


def pages(course: Course) -> dict[str, str]:
    usual = Kept("ada", result(course, attention__mask="failed", worked_example__output="pending"))
    usual.result.checks[4].suspect = "no_scale"
    bad = hostile(course)
    return {
        "feedback": feedback(usual, course.title, HINTS),
        "hostile": feedback(bad, course.title, HINTS),
        "class": class_page([usual, bad], course.title, HINTS, [HOSTILE]),
        "empty": class_page([], course.title, HINTS),
    }


@pytest.mark.parametrize("which", ["feedback", "hostile", "class", "empty"])
def test_nothing_is_loaded_or_run(course: Course, which: str) -> None:
    page = pages(course)[which]
    seen = Tags(page)
    names = {tag for tag, _ in seen.tags}
    assert not names & {"img", "iframe", "link", "object", "embed", "form", "base"}
    assert seen.named("script") == ([{}] if which in ("class", "empty") else [])
    assert not [a for _, attributes in seen.tags for a in attributes if a.startswith("on") or a == "src"]
    for attributes in seen.named("a"):
        assert re.match(r"#|feedback/|grades\.csv", attributes["href"] or "")
    policy = next(a["content"] for a in seen.named("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert "1337" not in page


def test_the_class_page_allows_its_own_script_and_no_other(course: Course) -> None:
    page = pages(course)["class"]
    script = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)[0]
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{allowed}';" in page
    assert "'unsafe-inline'" not in page.split("script-src")[1].split(";")[0]


@pytest.mark.parametrize("which", ["hostile", "class"])
def test_a_hostile_name_is_isolated_and_shown(course: Course, which: str) -> None:
    page = pages(course)[which]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<bdi>&lt;/title&gt;" in page


@pytest.mark.parametrize("which", ["feedback", "class"])
def test_a_page_can_be_used_by_keyboard_and_screen_reader(course: Course, which: str) -> None:
    seen = Tags(pages(course)[which])
    assert seen.named("html") == [{"lang": "en"}]
    ids = [a["id"] for _, a in seen.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert all(a.get("scope") in ("col", "row", "rowgroup") for a in seen.named("th"))
    assert seen.named("a")[0] == {"class": "skip", "href": "#main"}
    for _, attributes in seen.tags:
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in ids
    for attributes in seen.named("a"):
        target = attributes["href"] or ""
        assert not target.startswith("#") or target[1:] in ids
    assert len(seen.named("h1")) == 1


def test_backticks_are_code_and_escaped_like_everything_else() -> None:
    assert prose("`axis` picks <b>") == "<code>axis</code> picks &lt;b&gt;"
    assert prose("`<script>` and ` alone") == "<code>&lt;script&gt;</code> and ` alone"


def test_powers_of_ten_are_written_as_by_hand() -> None:
    assert prose("about 10^-14, 10^0 and `10^3`") == "about 10⁻¹⁴, 1 and <code>10^3</code>"


def test_every_verdict_has_a_word_and_a_sign_of_its_own() -> None:
    assert len({words.word for words in WORDING.values()}) == len(WORDING)
    assert len({words.sign for words in WORDING.values()}) == len(WORDING)
    assert set(UNDECIDED) <= set(WORDING)


def test_feedback_says_the_mark_what_waits_and_what_to_look_at_first(course: Course) -> None:
    page = pages(course)["feedback"]
    text = " ".join(re.sub("<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL).split())
    assert "16.67 of 25 points (provisional)" in text
    assert "2.5 more points wait for a machine" in text
    assert "2.5 more points wait for a person" in text
    assert "The scores were not divided by anything. Read section 7.2, step 3." in text
    assert "does not hold" in text
    assert "waits for a GPU" in text
    assert "autograder explain DIR ada attention_lab.step1.attention.mask" in text
    for fact in ("bubblewrap", "0.1.0+0123456789ab", "0a1b2c3d4e5f"):
        assert fact in text


def test_what_to_look_at_first_names_a_function_once_and_not_what_was_skipped(course: Course) -> None:
    kept = Kept(
        "x",
        result(course, attention__one_token="failed", attention__rectangular="failed", softmax__rows="skipped"),
    )
    first = feedback(kept, course.title, {}).split('id="first"')[1].split("</section>")[0]
    assert first.count("<li>") == 1
    assert "One token" not in first
    assert "this came back" in first


def test_a_named_mistake_comes_first_and_its_hint_is_said_once(course: Course) -> None:
    kept = Kept("x", result(course, softmax__rows="failed", attention__one_token="failed", attention__mask="failed"))
    for check in kept.result.checks[2:5]:
        check.suspect = "no_scale"
    kept.result.checks[
        2
    ].message = "It is off. What it most looks like: The scores were not divided by anything. To read: 7.2."
    page = feedback(kept, course.title, HINTS)
    first = page.split('id="first"')[1].split("</section>")[0]
    assert first.index("attention") < first.index("softmax")
    assert "<bdi>It is off.</bdi>" in first
    assert first.count("The scores were not divided") == 1
    assert page.split('id="steps"')[1].count("The scores were not divided") == 1


EXAMPLE = Example(
    check="attention.shares",
    sentence="Every row of the weights sums to 1.",
    came_back="The rows sum to something else than 1.",
    picture=Picture(
        title="Your weights",
        rows="query",
        columns="key",
        cells=[["0.27", HOSTILE]],
        shades=[[1, 5]],
        sums=["1.24"],
        off=[0],
    ),
)


def shown_for(course: Course, **may: bool) -> str:
    """The text of a page on a failed check with a named mistake and an example, under a course's choice."""
    kept = Kept("x", result(course, attention__one_token="failed"))
    kept.result.checks[2].suspect, kept.result.checks[2].example = "no_scale", EXAMPLE
    page = feedback(kept, course.title, HINTS, Reveals(Feedback(**may)))
    return " ".join(re.sub("<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL).split())


def test_a_students_own_answer_on_a_published_input_is_shown_and_escaped(course: Course) -> None:
    text = shown_for(course)
    assert 'On a published input , which check("step1") tries too' in text
    assert "The rows sum to something else than 1." in text
    assert "✗ 1.24" in text
    assert "<img src=x" not in feedback(hostile(course), course.title, {}, Reveals())


@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("messages", "this came back, and that is why"),
        ("suspects", "The scores were not divided by anything."),
        ("examples", "On a published input"),
    ],
)
def test_a_course_decides_what_a_page_reveals(course: Course, hidden: str, words: str) -> None:
    assert words in shown_for(course)
    text = shown_for(course, **{hidden: False})
    assert words not in text
    assert "The one token of attention come out right." in text  # the sentence of the check is always there


def test_who_marks_finds_the_rubric_on_the_class_page(course: Course) -> None:
    kept = Kept("ada", result(course))
    assert "Names the mask." in class_page([kept], course.title, {}, guides=reveals(course).guides)


def test_a_rubric_is_on_the_page_only_where_the_course_shows_it(course: Course) -> None:
    kept = Kept("x", result(course))
    assert "Names the mask." not in feedback(kept, course.title, {}, reveals(course))
    told = feedback(kept, course.title, {}, reveals(msgspec.structs.replace(course, show_rubrics=True)))
    assert "2.5 points: Names the mask." in told


def test_a_hint_links_to_the_chapter_where_the_course_has_it_on_the_web(course: Course) -> None:
    kept = Kept("x", result(course, attention__one_token="failed"))
    kept.result.checks[2].suspect = "no_scale"
    shown = Reveals(Feedback(chapter_url="https://example.org/ch7#{section}"))
    assert 'href="https://example.org/ch7#7.2" rel="noreferrer"' in feedback(kept, course.title, HINTS, shown)
    assert "example.org" not in feedback(kept, course.title, HINTS)


def test_a_notebook_that_was_not_handed_in_is_one_sentence(course: Course) -> None:
    verdicts = {f"{name.split('.')[1]}__{name.split('.')[2]}": "submission_error" for name, _ in CHECKS}
    kept = result(course, **verdicts)
    for check in kept.checks:
        check.message, check.verdict = "attention_lab was not handed in.", "submission_error"
    page = feedback(Kept("x", kept), course.title, {})
    assert page.split('id="first"')[1].split("</section>")[0].count("was not handed in") == 1
    assert 'id="task-1-1"' not in page


def test_points_that_a_person_gave_are_not_counted_as_lost(course: Course) -> None:
    kept = result(course, attention__one_token="failed")
    check = kept.checks[2]
    check.overruled, check.points = Overruled(verdict="failed"), 2.0
    check.message = "A person gave 2 points here: almost."
    text = re.sub("<[^>]*>", " ", feedback(Kept("x", kept), course.title, {}, Reveals(Feedback(messages=False))))
    assert "1.33 points not earned" in " ".join(text.split())
    assert "A person gave 2 points here" in text


def test_tasks_stand_in_the_order_of_their_numbers(course: Course) -> None:
    kept = result(course)
    for check, task in zip(kept.checks, ("step2", "step10", "step1") * 3, strict=False):
        check.task = task
    assert [check.task for check in in_order(kept.checks[:6])] == ["step1"] * 2 + ["step2"] * 2 + ["step10"] * 2


def test_what_is_not_written_is_one_line_and_not_one_for_each_function(course: Course) -> None:
    kept = result(course, softmax__rows="submission_error", attention__one_token="submission_error")
    for check in kept.checks:
        if check.verdict == "submission_error":
            check.message = f"This function is not written yet: {check.function}."
    look = look_first(kept.checks, {})
    assert look.first == []
    assert [check.function for check in look.unwritten] == ["softmax", "attention"]


def test_a_notebook_of_which_nothing_is_written_is_named_once_and_folded(course: Course) -> None:
    kept = result(course)
    for check in kept.checks:
        check.verdict, check.points = ("failed" if check.id.endswith("by_person") else "submission_error"), 0.0
        check.message = f"This function is not written yet: {check.function}."
    look = look_first(kept.checks, {})
    assert (look.first, look.blank, look.unanswered) == ([], ["attention_lab"], [])
    page = feedback(Kept("x", kept), course.title, {})
    first = " ".join(re.sub("<[^>]*>", " ", page.split('id="first"')[1].split("</section>")[0]).split())
    assert "everything in attention_lab" in first
    assert "softmax" not in first
    assert '<details class="task" open' not in page


def test_an_answer_that_was_not_given_is_not_called_wrong(course: Course) -> None:
    kept = result(course)
    kept.checks[-1].verdict, kept.checks[-1].message = "failed", marks.NOT_ANSWERED
    text = re.sub("<[^>]*>", " ", feedback(Kept("x", kept), course.title, {}).split("</style>")[1])
    text = " ".join(text.split())
    assert "Not answered in words: Step 2 (2.5 points not earned)" in text
    assert "! not answered : Why the mask alone is enough." in text
    assert "does not hold" not in text


def test_a_file_that_cannot_be_read_is_one_sentence_and_its_answers_still_wait(course: Course) -> None:
    kept = result(course)
    for check in kept.checks[:-1]:
        check.verdict, check.points, check.message = "submission_error", 0.0, "No code could be read from lab.ipynb."
    page = feedback(Kept("x", kept), course.title, {})
    assert page.split('id="first"')[1].split("</section>")[0].count("No code could be read") == 1
    assert "(22.5 points not earned)" in page
    assert "waits for a person" in page


def test_the_hardest_checks_are_of_different_functions(course: Course) -> None:
    made = [result(course, attention__one_token="failed", attention__mask="skipped", softmax__rows="failed")]
    hardest = figures.hardest(figures.Figures(made).by_check())
    assert [one.check.function for one in hardest] == ["softmax", "attention"]


def test_the_same_message_for_every_function_is_said_once(course: Course) -> None:
    verdicts = {f"{name.split('.')[1]}__{name.split('.')[2]}": "submission_error" for name, _ in CHECKS}
    kept = result(course, **verdicts)
    for check in kept.checks[:-1]:
        check.message = "No code could be read."
    look = look_first(kept.checks, {})
    assert len(look.first) == 1
    assert look.first[0].lost == 22.5


def test_a_function_that_fails_because_of_another_is_named_with_it(course: Course) -> None:
    kept = result(course, softmax__rows="failed", attention__one_token="failed", worked_example__weights="skipped")
    kept.checks[2].message = "This comes from your softmax: with a right one in its place, this is right too."
    look = look_first(kept.checks, {})
    assert [one.where[0].function for one in look.first] == ["softmax"]
    assert look.with_others == [("attention", 3.3334), ("worked_example", 5.0)]


def test_points_that_came_through_a_right_function_in_the_place_of_a_wrong_one_say_so(course: Course) -> None:
    kept = result(course)
    kept.checks[5].message = "Right, and counted in full."
    assert "1 check that holds: Right, and counted in full." in feedback(Kept("x", kept), course.title, {})


def test_a_flood_of_messages_does_not_make_a_flood_of_pages(course: Course) -> None:
    made = outcomes(**dict.fromkeys(("softmax__rows", "attention__mask", "attention__one_token"), "failed"))
    for outcome in made:
        outcome.message = "&" * 10_000_000
    kept = Kept("x", marks.assemble(made, course, facts("n" * 10_000_000, message="y" * 10_000_000)))
    assert len(feedback(kept, course.title, {})) < 200_000
    assert len(class_page([kept], course.title, {})) < 100_000


def test_the_class_page_names_errors_timeouts_suspects_and_what_a_person_must_do(course: Course) -> None:
    kept = [Kept(f"s{i}", result(course, f"s{i}")) for i in range(3)]
    kept.append(Kept("late", result(course, "late", attention__mask="timeout")))
    kept.append(Kept("broken", result(course, "broken", softmax__large="grader_error")))
    kept.append(Kept("wrong", result(course, "wrong", attention__mask="failed")))
    kept[-1].result.checks[4].suspect = "no_scale"
    page = class_page(kept, course.title, HINTS)
    attention = page.split('id="attention"')[1].split("</section>")[0]
    assert 'href="feedback/broken.html"' in attention
    assert "attention_lab.step1.softmax.large" in attention
    assert 'href="feedback/late.html"' in attention
    suspects = page.split('id="suspects"')[1].split("</section>")[0]
    assert "no_scale" in suspects
    assert "The scores were not divided by anything." in suspects


def test_rates_leave_out_what_is_not_decided(course: Course) -> None:
    kept = [Kept("a", result(course)), Kept("b", result(course, attention__mask="failed"))]
    kept.append(Kept("c", result(course, attention__mask="grader_error")))
    counted = figures.Figures(one.result for one in kept)
    mask = next(f for f in counted.by_check() if f.check.id.endswith("attention.mask"))
    assert (mask.passed, mask.decided, mask.rate) == (1, 2, 0.5)
    step1 = counted.by_task()[0]
    assert step1.won == pytest.approx((1 + 11.6667 / 15 + 1) / 3)


def test_discrimination_is_high_for_a_check_that_only_strong_submissions_pass(course: Course) -> None:
    strong = [Kept(f"s{i}", result(course, f"s{i}")) for i in range(5)]
    weak = [Kept(f"w{i}", result(course, f"w{i}", attention__mask="failed", softmax__rows="failed")) for i in range(5)]
    counted = figures.Figures(one.result for one in strong + weak)
    by_id = {f.check.id: f.discrimination for f in counted.by_check()}
    assert by_id["attention_lab.step1.attention.mask"] == pytest.approx(1)
    assert by_id["attention_lab.step1.attention.one_token"] is None


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_discrimination_of_a_handful_of_submissions_is_not_shown(course: Course, count: int) -> None:
    made = [result(course, **({"attention__mask": "failed"} if i % 2 else {})) for i in range(count)]
    assert all(one.discrimination is None for one in figures.Figures(made).by_check())


def test_discrimination_is_the_correlation_with_the_score_in_all_other_checks(course: Course) -> None:
    random = np.random.default_rng(7)
    names = ["softmax__rows", "softmax__large", "attention__mask", "attention__one_token"]
    made = [
        result(course, **{name: "failed" for name, wrong in zip(names, random.random(4) < 0.5, strict=True) if wrong})
        for _ in range(40)
    ]
    for one in figures.Figures(made).by_check():
        if one.discrimination is not None:
            its = [next(c for c in r.checks if c.id == one.check.id) for r in made]
            passed = [c.verdict == "passed" for c in its]
            rest = [r.score - c.points for r, c in zip(made, its, strict=True)]
            assert one.discrimination == pytest.approx(np.corrcoef(passed, rest)[0, 1], abs=1e-12)


def test_every_score_is_in_one_bar(course: Course) -> None:
    kept = [Kept("full", result(course)), Kept("less", result(course, attention__mask="failed"))]
    zero = {"_".join(c.id.split(".")[2:3]) + "__" + c.id.split(".")[3]: "failed" for c in kept[0].result.checks[:-1]}
    kept.append(Kept("zero", result(course, **zero)))
    bars = figures.Figures(one.result for one in kept).distribution().bars
    assert [bar.count for bar in bars] == [1, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    assert (bars[0].low, bars[-1].high) == (0, 25)


def test_publishing_writes_the_table_and_a_page_for_each(course: Course, tmp_path: Path) -> None:
    results.prepare(tmp_path)
    for name in ("ada", "Çiğdem Ü"):
        results.write(tmp_path, name, result(course, name))
    (tmp_path / "results" / "half.json").write_bytes(b"{")
    kept, unreadable = publish(tmp_path, course.title, {})
    assert [one.stem for one in kept] == ["ada", "Çiğdem Ü"]
    assert [path.name for path in unreadable] == ["half.json"]
    assert sorted(p.name for p in (tmp_path / "feedback").iterdir()) == ["ada.html", "Çiğdem Ü.html"]
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "half.json" in index
    assert (tmp_path / "grades.csv").read_text(encoding="utf-8").startswith("submission,score,")
