"""Every page and view on data of every odd kind: a sentence instead of a crash, in the language that was asked for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from recmetrics.text import Text, catalogue
from recmetrics.ui import menu, state
from tests.app.opening import APP

VIEWS = [(page.name, view) for page in menu.MENU for view in ([name for name, _ in page.views] or [""])]
HEADER = "user,item,label,score"
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script>",
    "$x$",
    "**b**",
    "[a](javascript:1)",
    ":red[x]",
    "{n}",
    "=1+1",
    "right\u202eleft",
    "x" * 300,
    "中文名",
    "🙂",
)
# Names that Markdown would act on, were they not escaped.
LIVE = re.compile(r"(?<!\\)(?:<img|</script|\$x|\[a\]|:red\[x|\*\*b\*\*(?!\*))")
PARAGRAPHS = {"markdown", "caption", "title", "subheader", "info", "warning", "error", "success", "badge"}


def lines(rows: list[tuple[Any, ...]], header: str = HEADER) -> str:
    return "\n".join([header, *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]) + "\n"


def users(n_users: int, n_items: int, score: Any, label: Any = None) -> list[tuple[Any, ...]]:
    """Every user with the same number of items; unless told otherwise the first item is the relevant one."""
    return [
        (f"u{u}", f"i{i}", (i == 0) * 1 if label is None else label(u, i), score(u, i))
        for u in range(n_users)
        for i in range(n_items)
    ]


def spread(u: int, i: int) -> float:
    """All different, without an order that helps or hurts."""
    return (u * 37 + i * 61) % 997 / 1000


def hostile() -> str:
    quoted = ['"' + name.replace('"', '""') + '"' for name in HOSTILE]
    rows = [
        (
            quoted[u],
            quoted[(u + i) % len(quoted)],
            (u + i) % 2,
            spread(u, i),
            spread(i, u),
            quoted[(3 * u + i) % len(quoted)],
        )
        for u in range(len(quoted))
        for i in range(6)
    ]
    return lines(rows, f"user,item,label,{quoted[0]},{quoted[3]},{quoted[4]}")


# Name → the files that the app is started with.
FILES: Mapping[str, Mapping[str, str | bytes]] = {
    "one class": {"rows.csv": lines(users(6, 5, spread, lambda u, i: 0))},
    "only positives": {"rows.csv": lines(users(6, 5, spread, lambda u, i: 1))},
    "all scores equal": {"rows.csv": lines(users(6, 5, lambda u, i: 0.3))},
    "heavy ties": {"rows.csv": lines(users(12, 10, lambda u, i: (u + i) % 3 / 4))},
    "one row": {"rows.csv": lines([("u", "i", 1, 0.7)])},
    "no users": {"rows.csv": lines([(n % 3 // 2, n % 11 / 11) for n in range(60)], "label,score")},
    "one user": {"rows.csv": lines(users(1, 40, spread, lambda u, i: i % 3 // 2))},
    "K beyond every list": {"rows.csv": lines(users(30, 3, spread))},
    "graded": {"rows.csv": lines(users(20, 12, spread, lambda u, i: (u + i) % 5))},
    "two models, different users": {
        "A.csv": lines(users(20, 8, spread)),
        "B.csv": lines(users(26, 8, lambda u, i: spread(i, u))[48:]),
    },
    "scores beyond all measure": {"rows.csv": lines(users(20, 6, lambda u, i: 1e300 * (spread(u, i) - 0.5)))},
    "twelve segments, some of one class": {
        "rows.csv": lines(
            [
                (*row[:2], row[2] * (n // 6 % 12 > 2), row[3], f"s{n // 6 % 12}")
                for n, row in enumerate(users(96, 6, spread))
            ],
            f"{HEADER},city",
        )
    },
    "hostile names": {"rows.csv": hostile()},
    "Chinese headers in GB18030": {
        "得分.csv": lines(
            [(f"用户{user}", f"商品{item}", label, score) for user, item, label, score in users(10, 6, spread)],
            "用户,商品,标签,得分",
        ).encode("gb18030")
    },
    "NaN and inf": {
        "rows.csv": lines([*users(8, 6, spread), ("u1", "x", 1, "NaN"), ("u2", "x", 0, "inf"), ("u3", "x", 0, "-inf")])
    },
    "inf alone": {"rows.csv": lines([*users(8, 6, spread), ("u2", "x", 0, "inf"), ("u3", "x", 0, "-inf")])},
    "negative scores": {"rows.csv": lines(users(20, 6, lambda u, i: -5 + 3 * spread(u, i)))},
}
SOURCES = {"no data": "", "ten rows": "sample:ten_rows", **dict.fromkeys(FILES, "file:0")}


def start(folder: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    monkeypatch.setenv("RECMETRICS_FILES", os.pathsep.join(str(folder / name) for name in files))


def opened(page: str, **query: str) -> AppTest:
    """Open a page as the first request of a session, by a link."""
    at = AppTest.from_file(APP, default_timeout=60)
    for key, value in {"v": "1", **query}.items():
        at.query_params[key] = value
    if page != "home":
        at.switch_page(menu.entry(page).file)
    return at.run()


def go(at: AppTest, page: str) -> AppTest:
    """Follow the menu, whose links carry no parameters."""
    at.query_params.clear()
    return at.switch_page(menu.entry(page).file).run()


def elements(block: Any) -> Iterator[Any]:
    for child in getattr(block, "children", {}).values():
        yield child
        yield from elements(child)


def all_of(at: AppTest) -> list[Any]:
    return [*elements(at.main), *elements(at.sidebar)]


def marked(at: AppTest) -> list[str]:
    """Return the texts that the browser reads as Markdown: paragraphs, boxes, and the labels of controls."""
    paragraphs = [str(element.value) for element in all_of(at) if getattr(element, "type", "") in PARAGRAPHS]
    return paragraphs + [str(getattr(element, "label", "") or "") for element in all_of(at)]


def drawn(at: AppTest) -> list[str]:
    """Return the texts in the charts."""
    return [word for chart in at.get("plotly_chart") for word in words_of(json.loads(chart.proto.spec))]


def words_of(spec: Any) -> Iterator[str]:
    """Yield the texts of a chart; the template holds only looks, `bdata` only numbers, `%{x}` is filled by Plotly."""
    if isinstance(spec, str):
        yield re.sub(r"%\{[^}]*\}", "", spec)
    elif isinstance(spec, list):
        for value in spec:
            yield from words_of(value)
    elif isinstance(spec, dict):
        for key, value in spec.items():
            if key not in {"template", "bdata"}:
                yield from words_of(value)


def said(at: AppTest) -> str:
    """Return all words on the page: texts, labels, options, cells of tables, words in and about charts."""
    found = [*marked(at), *drawn(at), *(chart.proto.alt for chart in at.get("plotly_chart"))]
    for element in all_of(at):
        found += [str(option) for option in getattr(element, "options", None) or ()]
        if getattr(element, "type", "") == "arrow_data_frame":
            table = element.value
            found += [str(name) for name in table.columns]
            found += [cell for column in table for cell in table[column] if isinstance(cell, str)]
    return re.sub(r"\\(.)", r"\1", "\n".join(found))


def speaks(at: AppTest, page: str) -> bool:
    """Whether the page gives an answer, or says in a box why there is none.

    Home, Data and Learn ask for something: there a whole sentence beside title and question is enough.
    """
    keys = [str(getattr(getattr(block, "proto", None), "id", "")) for block in elements(at.main)]
    if at.error or at.warning or at.info or any(key.endswith("answer") for key in keys):
        return True
    return page in {"home", "data", "learn"} and any(
        re.search("[.。]$", str(text.value).strip()) for text in [*at.markdown, *at.caption[1:]]
    )


@cache
def english() -> tuple[str, ...]:
    """Return the pieces of English sentences of four words and more that the Chinese catalogue translates.

    The glossary names a metric in both languages; those names are no sentences.
    """
    found = catalogue("zh")
    texts = [*found.values(), *(text for (_, key), text in catalogue("en").items() if key.endswith(".name"))]
    kept = "\n".join("\n".join(text) if isinstance(text, tuple) else str(text) for text in texts)
    pieces = {piece.strip() for _, sentence in found for piece in re.split(r"\{\w+\}", sentence)}
    return tuple(piece for piece in sorted(pieces) if len(piece.split()) > 3 and piece not in kept)


def faults(at: AppTest, page: str, language: str, hostile_names: bool) -> list[str]:
    """Return what is wrong with a page as shown; empty when nothing is."""
    words = said(at).replace("inf, -inf", "")  # a refusal quotes the cells that it is about
    found = [f"crash: {crash.message}" for crash in at.exception]
    if hostile_names:
        words = words.replace("{n}", "")
        found += [f"markup: {text[:80]}" for text in marked(at) if LIVE.search(text)]
        found += [f"markup in a chart: {text[:80]}" for text in drawn(at) if re.search("<img|</script|\u202e", text)]
        found += ["direction or length"] if "\u202e" in words or "x" * 100 in words else []
    found += re.findall(r"\b(?:nan|NaN|None|NaT|inf)\b|\{\w+\}|check\.RM-\d+\S*|glossary\.\w+\.\w+", words)
    found += [] if speaks(at, page) else ["no sentence"]
    if language == "zh":
        found += [f"English: {piece}" for piece in english() if piece in words]
        found += [] if re.search("[\u4e00-\u9fff]", str(at.title[0].value)) else ["English title"]
    return found


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("name", SOURCES)
def test_every_page_says_a_sentence_about(
    name: str, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Half of the views in either language; the other fixtures turn it round, so that all views are seen in both.
    if name in FILES:
        start(tmp_path, monkeypatch, FILES[name])
    found = {}
    for place, (page, view) in list(enumerate(VIEWS))[turn::2]:
        language = ("en", "zh")[(place // 2 + list(SOURCES).index(name)) % 2]
        query = {"d": SOURCES[name], "view": view, "lang": language}
        at = opened(page, **{key: value for key, value in query.items() if value})
        found[f"{page} {view} {language}"] = faults(at, page, language, name == "hostile names")
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


def test_the_search_for_faults_finds_them() -> None:
    at = AppTest.from_string(
        "import streamlit as st\n"
        "st.title('Title')\n"
        "st.markdown('a None, a {gap}, <img src=x>')\n"
        "st.caption('This page answers its question from your data. Open a sample or a file first.')\n"
    ).run()
    found = faults(at, "overview", "zh", True)
    whole = "English: This page answers its question from your data. Open a sample or a file first."
    assert found[:4] == ["markup: a None, a {gap}, <img src=x>", "None", "{gap}", "no sentence"]
    assert {whole, "English title"} <= set(found[4:])


@pytest.mark.parametrize(
    ("mode", "value"),
    [
        ("score", "-1e300"),
        ("score", "0.2"),
        ("share", "0"),
        ("share", "1"),
        ("topk", "999999"),
        ("precision", "1"),
        ("recall", "0"),
        ("cost", "1e9"),
    ],
)
def test_a_threshold_from_a_link_may_lie_anywhere(
    mode: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    for name in ("one class", "one row"):
        start(tmp_path, monkeypatch, FILES[name])
        for place, page in enumerate(("threshold", "overview")):
            language = ("en", "zh")[place % 2]
            at = opened(page, d="file:0", lang=language, tm=mode, tv=value, k="1")
            found[f"{name}: {page}"] = faults(at, page, language, False)
    assert {place: wrong for place, wrong in found.items() if wrong} == {}


CITIES = ("north", "south")


def two_models(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(*row, spread(n, n * n), CITIES[n % 2]) for n, row in enumerate(users(30, 8, spread))]
    start(folder, monkeypatch, {"rows.csv": lines(rows, "user,item,label,score_a,score_b,city")})


def chosen(at: AppTest) -> dict[str, Any]:
    keys = (state.MODEL, state.SEGMENT, state.K, state.MODE, state.VALUE, state.LANGUAGE)
    return {key: at.session_state[key] for key in keys if key in at.session_state}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_was_chosen_survives_a_walk_over_all_pages(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_models(tmp_path, monkeypatch)
    expected = {
        state.MODEL: "score_b",
        state.SEGMENT: ("city", "south"),
        state.K: 3,
        state.MODE: "recall",
        state.VALUE: 0.6,
        state.LANGUAGE: language,
    }
    at = opened("ranking", d="file:0", lang="en", tm="recall", tv="0.6")
    at.selectbox(key=state.MODEL).set_value("score_b").run()
    at.selectbox(key=state.SEGMENT).set_value(("city", "south")).run()
    at.number_input(key=state.K).set_value(3).run()
    at.segmented_control(key=state.LANGUAGE).set_value(language).run()
    for page in ["threshold", "home", "segments", "learn", "data", "overview", "diagnose", "data", "ranking"]:
        go(at, page)
        assert not at.exception, page
        assert chosen(at) == expected, page
        assert at.title[0].value == Text(language)._(menu.entry(page).title), page
    assert at.number_input(key=state.K).value == 3
    assert at.selectbox(key=state.MODEL).value == "score_b"


def test_views_are_kept_while_other_pages_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_models(tmp_path, monkeypatch)
    at = opened("ranking", d="file:0", view="users")
    go(at, "data")
    at.segmented_control(key=state.view_key("data")).set_value("quality").run()
    go(at, "ranking")
    assert at.session_state[state.view_key("ranking")] == "users"
    go(at, "data")
    assert at.session_state[state.view_key("data")] == "quality"


def test_other_data_start_anew_but_keep_language_and_k(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two_models(tmp_path, monkeypatch)
    at = opened("ranking", d="file:0", model="score_b", k="3", lang="zh", tm="score", tv="0.2")
    go(at, "data").button(key=state.open_key("healthy_clicks")).click().run()
    go(at, "overview")
    assert not at.exception
    found = chosen(at)
    assert (found[state.LANGUAGE], found[state.K]) == ("zh", 3)
    assert found[state.MODEL] not in {"score_b", ""}
    assert (found[state.MODE], found[state.VALUE]) == ("", None)


def uploaded(content: str) -> AppTest:
    at = opened("data", lang="en")
    at.file_uploader(key=state.FILES).set_value([("rows.csv", content.encode(), "text/csv")])
    return at.run()


def test_two_sessions_with_files_of_one_name_never_see_each_others_numbers() -> None:
    # Same name, same size, same rows; in the one every positive is scored above every negative, in the other below.
    rows = users(40, 2, spread)
    best = lines([(*row[:3], (u % 40 + 50 * row[2]) / 100) for u, row in enumerate(rows)])
    worst = lines([(*row[:3], (u % 40 + 50 * (1 - row[2])) / 100) for u, row in enumerate(rows)])
    one, other = uploaded(best), uploaded(worst)
    assert one.session_state[state.SOURCE] != other.session_state[state.SOURCE]
    for at, value in ((one, "100.0%"), (other, "0.0%"), (one, "100.0%")):
        go(at, "overview")
        assert not at.exception
        assert f"score puts a random positive above a random negative {value} of the time" in said(at)
    assert "1.000" in said(go(one, "ranking"))


def test_a_link_to_an_upload_of_another_session_opens_nothing() -> None:
    secret = lines([(f"secret{u}", item, label, score) for u, item, label, score in users(5, 4, spread)])
    source = uploaded(secret).session_state[state.SOURCE]
    assert source.startswith("upload:")
    stranger = opened("overview", d=source, lang="en")
    assert not stranger.exception
    assert "Upload the same file again" in stranger.error[0].value
    assert "secret" not in said(stranger)
