"""What the code of the app must not hold, read from its syntax tree: pages stay thin, no control is dead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from recmetrics.ui import menu

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
UI = sorted((ROOT / "recmetrics" / "ui").rglob("*.py"))
EVERY_FILE = [*PAGES, *UI]

INPUTS = {
    *("button", "checkbox", "toggle", "radio", "selectbox", "multiselect", "slider", "select_slider", "number_input"),
    *("text_input", "text_area", "segmented_control", "pills", "file_uploader", "date_input", "time_input"),
    *("download_button", "form_submit_button", "data_editor", "color_picker", "feedback", "chat_input"),
}
SAYING = {
    *("markdown", "caption", "write", "text", "title", "header", "subheader", "info", "warning", "error", "success"),
    *("page_link", "expander", "popover", "metric", "toast", "spinner", "sentence", "heading"),
}
# The name of the project, and two texts that are to be read in either language.
SAME_IN_EVERY_LANGUAGE = {"recmetrics", "Language · 语言", "NDCG · 召回率"}
WORD = re.compile(r"[^\W\d_]{2,}")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def parents(root: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in ast.walk(root) for child in ast.iter_child_nodes(node)}


def calls(root: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(root) if isinstance(node, ast.Call))


def called(call: ast.Call) -> str:
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((given.value for given in call.keywords if given.arg == name), None)


def imported(root: ast.AST) -> Iterator[str]:
    for node in ast.walk(root):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def docstrings(root: ast.Module) -> set[ast.AST]:
    holders = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {
        node.body[0].value
        for node in ast.walk(root)
        if isinstance(node, holders) and node.body and isinstance(node.body[0], ast.Expr)
    }


# Pages


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_imports_only_streamlit_and_the_project_above_the_engines(path: Path) -> None:
    allowed = re.compile(r"streamlit|recmetrics|recmetrics\.figures(\..+)?|recmetrics\.ui(\..+)?")
    assert [module for module in imported(tree(path)) if not allowed.fullmatch(module)] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_the_frame_is_drawn_before_anything_else(path: Path) -> None:
    statements = [
        node
        for node in tree(path).body
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and getattr(node, "value", None) not in docstrings(tree(path))
    ]
    first = statements[0]
    assert isinstance(first, ast.Assign)
    assert isinstance(first.value, ast.Call)
    assert called(first.value) == "page"


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_opens_the_frame_under_its_own_name(path: Path) -> None:
    opening = next(call for call in calls(tree(path)) if called(call) == "page")
    assert menu.entry(ast.literal_eval(opening.args[0])).file == name_of(path)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_has_at_most_sixty_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_neither_computes_nor_loops(path: Path) -> None:
    refused = (ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Lambda, ast.For, ast.While, ast.FunctionDef, ast.ClassDef)
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    assert [ast.unparse(node) for node in ast.walk(tree(path)) if isinstance(node, refused + comprehensions)] == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_holds_no_text_outside_the_catalogue(path: Path) -> None:
    translated = {call.args[0] for call in calls(tree(path)) if called(call) in {"_", "_n", "_p"} and call.args}
    left = [
        node.value
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node not in translated | docstrings(tree(path)) and not re.fullmatch(r"[a-z0-9_@]+", node.value)
    ]
    assert left == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_spells_no_key(path: Path) -> None:
    keys = [keyword(call, "key") for call in calls(tree(path))]
    assert [ast.unparse(key) for key in keys if isinstance(key, ast.Constant | ast.JoinedStr)] == []


# Pages and frame


@pytest.mark.parametrize("path", EVERY_FILE, ids=name_of)
def test_what_breaks_links_waits_or_lets_markup_in_is_not_used(path: Path) -> None:
    refused = {"navigation", "tabs", "experimental_rerun", "sleep"}
    found = [attribute for attribute in ast.walk(tree(path)) if isinstance(attribute, ast.Attribute)]
    assert [ast.unparse(node) for node in found if node.attr in refused] == []
    assert [ast.unparse(node) for node in found if node.attr == "query_params" and path.name != "link.py"] == []
    assert [ast.unparse(node) for node in found if node.attr == "v1"] == []
    passed = [given.arg or "" for call in calls(tree(path)) for given in call.keywords]
    assert [name for name in passed if name == "bind" or name.startswith("unsafe_allow_")] == []


@pytest.mark.parametrize("path", EVERY_FILE, ids=name_of)
def test_the_app_starts_no_threads_and_takes_no_components_of_the_first_version(path: Path) -> None:
    refused = re.compile(
        r"(threading|_thread|concurrent|multiprocessing|asyncio|sched|streamlit\.components\.v1)(\..+)?"
    )
    assert [module for module in imported(tree(path)) if refused.fullmatch(module)] == []
    names = [alias.name for node in ast.walk(tree(path)) if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert {"sleep", "query_params", "tabs", "navigation"}.isdisjoint(names)


def test_pages_are_switched_in_one_place() -> None:
    switching = {name_of(path) for path in EVERY_FILE for call in calls(tree(path)) if called(call) == "switch_page"}
    assert switching == {"recmetrics/ui/controls.py"}


def test_nothing_reruns_the_script_by_hand() -> None:
    assert [name_of(path) for path in EVERY_FILE for call in calls(tree(path)) if called(call) == "rerun"] == []


@pytest.mark.parametrize("path", UI, ids=name_of)
def test_what_is_said_comes_from_the_catalogue(path: Path) -> None:
    assert list(spoken_literals(tree(path))) == []


def spoken_literals(root: ast.AST) -> Iterator[str]:
    """Yield the words that a call shows though no catalogue holds them."""
    for call in calls(root):
        if called(call) not in SAYING | INPUTS or not isinstance(call.func, ast.Attribute):
            continue
        said_first = call.args[:1] if called(call) != "page_link" else []  # a link names its file first
        shown = [*said_first, *(keyword(call, name) for name in ("label", "help", "placeholder", "body"))]
        for argument in shown:
            pieces = argument.values if isinstance(argument, ast.JoinedStr) else [argument]
            for piece in pieces:
                written = piece.value if isinstance(piece, ast.Constant) and isinstance(piece.value, str) else ""
                if WORD.search(written) and written.strip("*") not in SAME_IN_EVERY_LANGUAGE:
                    yield written


# Controls


@pytest.mark.parametrize("path", UI, ids=name_of)
def test_the_key_of_an_input_is_a_constant_of_the_state(path: Path) -> None:
    inputs = [call for call in calls(tree(path)) if is_input(call)]
    literal = [call for call in inputs if isinstance(keyword(call, "key"), ast.Constant | ast.JoinedStr)]
    assert [f"{call.lineno}: {ast.unparse(call.func)}" for call in literal] == []


def test_no_control_is_dead() -> None:
    read = set().union(*(keys_read(tree(path)) for path in EVERY_FILE))
    dead = [f"{name_of(path)}:{found}" for path in EVERY_FILE for found in dead_controls(tree(path), read)]
    assert dead == []


def test_a_dead_control_would_be_found() -> None:
    source = """
def draw():
    st.slider("a", key=state.K)
    unread = st.slider("b", key=state.MODE)
    key = state.LEAST
    st.slider("c", key=key)
    st.slider("d", key=state.READ)
    read = st.slider("e")
    st.button("f", on_click=act)
    st.button("g", on_click="ignore")
    return read, st.slider("h"), st.session_state[state.READ]
"""
    root = ast.parse(source)
    assert list(dead_controls(root, keys_read(root))) == ["3 st.slider", "4 st.slider", "6 st.slider", "10 st.button"]


def is_input(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in INPUTS


def short(key: ast.expr) -> str:
    """Return `K` for `state.K`, `exact_key` for `state.exact_key(mode)`, so that modules can be compared."""
    return ast.unparse(key.func if isinstance(key, ast.Call) else key).removeprefix("state.")


def keys_read(root: ast.AST) -> set[str]:
    """Return the keys whose value is taken from the session: by `.get`, `.pop` or a subscript not written to."""
    found = set()
    for scope in (node for node in ast.walk(root) if isinstance(node, ast.FunctionDef)):
        for node in ast.walk(scope):
            key = None
            if isinstance(node, ast.Call) and called(node) in {"get", "pop"} and node.args:
                key = node.args[0]
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                key = node.slice
            if key is not None:
                found.add(short(resolved(key, scope)))
    return found


def resolved(key: ast.expr, scope: ast.AST) -> ast.expr:
    """Return what a local name was given, so that `key = state.K` counts as `state.K`."""
    if not isinstance(key, ast.Name):
        return key
    given = [
        node.value for node in ast.walk(scope) if isinstance(node, ast.Assign) and is_name(node.targets[0], key.id)
    ]
    return given[0] if given else key


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def dead_controls(root: ast.AST, read: set[str]) -> Iterator[str]:
    """Yield the inputs that nothing listens to: no callback, no use of what they return, no reader of their key."""
    above = parents(root)
    for call in sorted((call for call in calls(root) if is_input(call)), key=lambda call: call.lineno):
        scope = above[call]
        while not isinstance(scope, ast.FunctionDef | ast.Module):
            scope = above[scope]
        key = keyword(call, "key")
        listened = has_callback(call) or is_used(above[call], scope)
        if not listened and (key is None or short(resolved(key, scope)) not in read):
            yield f"{call.lineno} {ast.unparse(call.func)}"


def has_callback(call: ast.Call) -> bool:
    # A download is an effect of its own: it takes the press itself and needs no rerun.
    given = keyword(call, "on_change") or keyword(call, "on_click")
    return given is not None and (not isinstance(given, ast.Constant) or called(call) == "download_button")


def is_used(parent: ast.AST, scope: ast.AST) -> bool:
    if isinstance(parent, ast.Expr):
        return False
    if not isinstance(parent, ast.Assign | ast.AnnAssign):
        return True
    targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
    names = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    loads = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return bool(names & loads)


# Menu


def test_the_menu_is_the_folder() -> None:
    assert sorted(page.file for page in menu.MENU) == sorted(name_of(path) for path in PAGES)


def test_names_and_addresses_are_unique_whatever_the_case() -> None:
    # Two pages with one address lead silently to one of them (streamlit #10572); a file system may ignore case.
    addresses = [re.sub(r"^\d+_|\.py$", "", Path(page.file).name).casefold() for page in menu.MENU]
    assert len(set(addresses)) == len(addresses)
    assert len({page.name for page in menu.MENU}) == len(menu.MENU)


@pytest.mark.parametrize("page", menu.MENU[1:], ids=lambda page: page.name)
def test_a_page_file_is_tens_and_one_plain_word(page: menu.Entry) -> None:
    assert re.fullmatch(r"pages/[1-9][0-9]*0_[A-Z][a-z]+\.py", page.file)


def test_the_menu_goes_in_the_order_of_the_files_and_of_its_sections() -> None:
    tens = [int(Path(page.file).name.partition("_")[0]) for page in menu.MENU[1:]]
    assert tens == sorted(tens)
    sections = [list(menu.SECTIONS).index(page.section) for page in menu.MENU]
    assert sections == sorted(sections)


def test_only_the_user_interface_imports_streamlit() -> None:
    others = [path for path in (ROOT / "recmetrics").rglob("*.py") if path not in UI]
    importing = [
        name_of(path) for path in others if any(name.partition(".")[0] == "streamlit" for name in imported(tree(path)))
    ]
    assert importing == []
