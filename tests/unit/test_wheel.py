"""An installed wheel is the whole product: package, words, app, pages, settings and samples."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from recmetrics.samples import SAMPLES
from recmetrics.shipped import shipped

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Return the file names in a wheel that is built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = folder.glob("recmetrics_dashboard-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_every_file_of_the_package(names: set[str]) -> None:
    package = [path for path in (ROOT / "recmetrics").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sorted({str(path.relative_to(ROOT).as_posix()) for path in package} - names) == []


def test_the_wheel_holds_the_app_its_pages_and_its_settings(names: set[str]) -> None:
    pages = {f"recmetrics/bundled/pages/{page.name}" for page in (ROOT / "pages").glob("*.py")}
    assert len(pages) >= 7
    assert sorted({"recmetrics/bundled/app.py", "recmetrics/bundled/.streamlit/config.toml", *pages} - names) == []


def test_the_wheel_holds_every_sample_with_its_notices(names: set[str]) -> None:
    files = {f"recmetrics/bundled/sample_data/{name}" for sample in SAMPLES.values() for name in sample.files}
    beside = {path.relative_to(ROOT).as_posix() for path in (ROOT / "sample_data").rglob("*") if path.is_file()}
    assert sorted((files | {f"recmetrics/bundled/{name}" for name in beside}) - names) == []


def test_the_wheel_holds_nothing_of_the_tests(names: set[str]) -> None:
    assert sorted(name for name in names if not name.startswith(("recmetrics/", "recmetrics_dashboard-"))) == []


def test_a_checkout_runs_the_app_beside_the_package() -> None:
    assert shipped("app.py") == ROOT / "app.py"
    assert shipped("app.py").is_file()
