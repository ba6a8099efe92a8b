"""Tables for a terminal."""

from recmetrics.cli.printing import printable, table, width


def test_columns_are_aligned_and_numbers_stand_flush_right() -> None:
    printed = table(("metric", "value"), [("auc", "0.5"), ("log_loss", "12.25")], right=frozenset({"value"}))
    assert printed.splitlines() == ["metric    value", "auc         0.5", "log_loss  12.25"]


def test_a_column_without_any_entry_is_left_out() -> None:
    assert table(("metric", "remark", "n"), [("auc", "", "3")]).splitlines() == ["metric  n", "auc     3"]


def test_chinese_characters_take_two_places() -> None:
    assert width("北京 a") == 6
    assert table(("city", "n"), [("北京", "1"), ("x", "2")]).splitlines() == ["city  n", "北京  1", "x     2"]


def test_names_from_a_file_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b[31mred\x07\u202eb\nc\td") == "a[31mredb c d"
