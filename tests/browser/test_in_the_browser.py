"""What only a browser can show: cold links, the address bar, Back, a moving slider, uploads, narrow screens."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from recmetrics.text import Text
from recmetrics.ui.menu import MENU, Entry
from tests.browser.conftest import FirstSight
from tests.browser.served import Visit

pytestmark = pytest.mark.browser
Start = Callable[..., Visit]
HEALTHY = {"d": "sample:healthy_clicks", "lang": "en"}


def path_of(entry: Entry) -> str:
    return "" if entry.file == "app.py" else entry.file.rpartition("_")[2].removesuffix(".py")


def test_the_first_request_a_server_gets_may_be_a_deep_link(first_sight: FirstSight) -> None:
    zh = Text("zh")
    assert first_sight.title == "阈值"
    assert first_sight.lang == "zh-CN"
    assert [name.split("\n")[-1] for name in first_sight.menu] == [zh._(entry.title) for entry in MENU]
    assert "healthy_clicks.csv" in first_sight.context
    assert "3,783" in first_sight.context
    assert "0.42" in first_sight.answer
    assert (first_sight.query["d"], first_sight.query["tv"]) == ("sample:healthy_clicks", "0.42")


@pytest.mark.parametrize("entry", MENU, ids=lambda entry: entry.name)
@pytest.mark.parametrize(("language", "dark", "width"), [("en", False, 1280), ("zh", True, 390)])
def test_every_page_opens_by_its_link(visit: Start, entry: Entry, language: str, dark: bool, width: int) -> None:
    one = visit(dark=dark, width=width).open(path_of(entry), d="sample:healthy_clicks", lang=language)
    expect(one.title).to_have_text(Text(language)._(entry.title))
    one.said("lang", language)
    # No sideways scrolling: wide tables scroll inside themselves.
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
    assert one.cut_off() == []


def test_a_step_of_the_slider_changes_the_confusion_matrix_and_the_address(visit: Start) -> None:
    one = visit().open("Threshold", **HEALTHY, tm="score", tv="0.2")
    before, said = one.counts(), one.query["tv"]
    slider = one.page.get_by_role("slider", name="Threshold")
    slider.focus()
    address = one.page.url
    slider.press("ArrowRight")
    expect(one.matrix).not_to_contain_text(before[0])
    expect(one.page).not_to_have_url(address)
    one.settled()
    tp, fn, fp, tn = (int(cell.replace(",", "")) for cell in one.counts()[:4])
    assert (tp + fn, fp + tn) == (474, 3_783 - 474)
    assert one.query["tv"] != said
    # Whoever gets the link now sees the same four numbers.
    other = visit(locale="zh-CN").open("Threshold", **{key: value for key, value in one.query.items() if key != "v"})
    assert other.counts() == one.counts()


def test_keys_pressed_faster_than_the_app_answers_all_arrive(visit: Start) -> None:
    one = visit().open("Threshold", **HEALTHY, tm="share", tv="0.05")
    slider = one.page.get_by_role("slider", name="Share of rows")
    start = int(slider.input_value())
    slider.focus()
    for _ in range(12):
        slider.press("ArrowRight", delay=30)
    one.settled()
    expect(slider).to_have_value(str(start + 12))
    one.page.wait_for_timeout(400)  # an answer that comes late must not pull the slider back
    expect(slider).to_have_value(str(start + 12))


def test_a_copied_link_restores_every_choice_in_another_browser(visit: Start) -> None:
    one = visit().open("Ranking", **HEALTHY)
    one.choose("Model", "score_b").choose("Segment filter", "city = 北京")
    one.page.get_by_role("spinbutton").first.fill("7")
    one.page.get_by_role("spinbutton").first.press("Enter")
    one.said("k", "7")
    one.language("简体中文")
    one.said("lang", "zh")
    one.page.get_by_role("button", name="复制链接").click()
    copied = str(one.page.evaluate("navigator.clipboard.readText()"))
    assert copied == one.page.url
    assert "北京" not in copied
    other = visit(locale="en-US")
    other.page.goto(copied)
    other.settled()
    expect(other.title).to_have_text("排序 @K")
    expect(other.context_bar).to_contain_text("874 / 3,783 行 · 36 / 160 个用户 · 121 / 474 个正样本")
    expect(other.page.get_by_role("combobox", name="模型")).to_have_value("score_b")
    expect(other.page.get_by_role("combobox", name="分群筛选")).to_have_value("city = 北京")
    expect(other.page.get_by_role("spinbutton").first).to_have_value("7")
    expect(other.answer).to_have_text(one.answer.inner_text())
    assert other.query == one.query


def test_choices_survive_the_menu_and_back_restores_a_page(visit: Start) -> None:
    one = visit().open("Threshold", d="sample:healthy_clicks", lang="zh", tm="recall", tv="0.8")
    sentence = one.answer.inner_text()
    one.menu("排序 @K")
    one.said("lang", "zh")
    one.menu("诊断")
    one.page.go_back()
    expect(one.title).to_have_text("排序 @K")
    one.page.go_back()
    expect(one.title).to_have_text("阈值")
    one.settled()
    assert one.answer.inner_text() == sentence
    one.page.go_forward()
    expect(one.title).to_have_text("排序 @K")
    one.said("lang", "zh")


def test_the_language_changes_words_and_nothing_else(visit: Start) -> None:
    one = visit().open("Threshold", **HEALTHY, tm="precision", tv="0.3")
    numbers, query = one.counts(), one.query
    one.language("简体中文")
    expect(one.title).to_have_text("阈值")
    one.said("lang", "zh")
    assert one.counts() == numbers
    assert {**one.query, "lang": "en"} == query
    one.language("English")
    expect(one.title).to_have_text("Threshold")
    one.said("lang", "en")
    assert one.query == query


def test_an_uploaded_file_is_still_there_after_a_walk_through_the_menu(visit: Start) -> None:
    rows = [f"u{i % 7},i{i},{int(i % 3 == 0)},{(i * 37 % 100) / 100}" for i in range(140)]
    one = visit().open("Data", lang="en").upload("mine.csv", "\n".join(["user,item,label,score", *rows]).encode())
    expect(one.answer).to_contain_text("mine.csv: 140 rows")
    one.menu("Threshold")
    expect(one.context_bar).to_contain_text("140 rows")
    one.menu("Data")
    expect(one.answer).to_contain_text("mine.csv: 140 rows")
    assert one.query["d"].startswith("upload:")


def test_a_bad_file_gets_a_sentence_and_no_traceback(visit: Start) -> None:
    one = visit().open("Data", lang="en").upload("broken.csv", b"user,item,label,score\nu,a,1,0.5\nu,b,0,high\n")
    expect(one.page.get_by_test_id("stAlert").first).to_contain_text("broken.csv")
    expect(one.page.get_by_text("Traceback")).to_have_count(0)


def test_names_from_a_file_are_letters_and_never_markup(visit: Start) -> None:
    name = "<img src=x onerror=alert(1)>"
    rows = [f'u{i % 5},i{i},{i % 2},{i / 100},"{name if i % 4 else "**b**"}"' for i in range(80)]
    one = visit().open("Data", lang="en").upload("odd.csv", "\n".join(["user,item,label,score,city", *rows]).encode())
    expect(one.answer).to_contain_text("odd.csv: 80 rows")
    one.menu("Segments")
    assert one.page.locator("img[src='x']").count() == 0
    expect(one.page.locator(".stMain, [data-testid='stMain']").first).to_contain_text(name)


def test_the_address_leaves_the_first_model_out_and_names_any_other(visit: Start) -> None:
    one = visit().open("Overview", **HEALTHY)
    assert "model" not in one.query
    one.choose("Model", "score_b")
    one.said("model", "score_b")
    one.choose("Model", "score_a")
    expect(one.page).not_to_have_url(re.compile("model="))
