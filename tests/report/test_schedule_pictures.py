"""The picture of a schedule's history."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from denv.report.schedule_pictures import Point, draw_history, write_history

DAY = 86_400.0


def point(number, *, failed=0, flips=0, kl=None, alarms=()):
    """Give a full run of 40 cases."""
    return Point(
        1_800_000_000 + number * DAY,
        "pass",
        {
            "kinds": {"exact": {"pass": 40 - failed, "fail": failed}},
            "drift": {
                "stage": {"flips": flips, "cases": 40},
                "reference": {"flips": 0, "cases": 40},
            },
            "floor": {"stage": {"upper": 0.064}, "reference": None},
            "kl": kl,
            "alarms": dict.fromkeys(alarms, "text"),
        },
    )


def lines(figure):
    """Give each panel's lines as their heights by label."""
    return [
        {line.get_label(): list(line.get_ydata()) for line in axes.get_lines()}
        for axes in figure.axes
    ]


def test_figures_are_those_of_the_runs():
    """Pass rate, agreement with the baseline, floor and alarms stand as they were counted."""
    (shown,) = lines(draw_history([point(0), point(1, failed=4, flips=8, alarms=["x"])], title="t"))
    assert shown["pass rate"] == [1.0, 0.9]
    assert shown["stage: as in the baseline"] == [1.0, 0.8]
    assert shown["reference: as in the baseline"] == [1.0, 1.0]
    assert shown["stage: noise floor"] == pytest.approx([0.936, 0.936])
    assert "reference: noise floor" not in shown
    assert shown["alarm"] == [0.9]


def test_divergence_has_a_panel_where_it_was_measured():
    """Runs without it leave a gap."""
    _, below = lines(draw_history([point(0, kl=0.01), point(1), point(2, kl=0.03)], title="t"))
    assert below["KL"] == [0.01, 0.03]


def test_a_single_run_stands_in_its_day():
    """One run has no span of its own: a day is shown, and shares from 0 on."""
    axes = draw_history([point(0, failed=4)], title="t").axes[0]
    first, last = axes.get_xlim()
    assert last - first == pytest.approx(1.0)  # Matplotlib counts days
    assert axes.get_ylim() == pytest.approx((0, 1.02))


def test_the_file_is_an_svg_with_text():
    """The same runs give the same bytes; title and labels can be read and searched."""
    points = [point(0), Point(1_800_086_400, "error", {"reasons": ["x"]})]
    first = write_history(points, title="nightly: chat-$r8$ <b>")
    assert first == write_history(points, title="nightly: chat-$r8$ <b>")
    root = ET.fromstring(first)
    assert root.tag.endswith("svg")
    assert "nightly: chat-$r8$ <b>" in "".join(root.itertext())


def test_nothing_to_draw():
    """Without a run there is no picture."""
    with pytest.raises(ValueError, match="no run"):
        draw_history([], title="t")
