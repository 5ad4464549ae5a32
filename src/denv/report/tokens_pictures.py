"""The pictures of tokens: change of probability, agreement by position, rank of the token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from markupsafe import Markup

from denv.records import Json
from denv.report.pictures import FIRST, INK, SECOND, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Document = Mapping[str, Json]

SIZE = (7.2, 3.4)
BAR = 0.4

RANKS_A_LABEL = 2

LEAST_SHOWN = 0.5
"""Where the axis of counts begins: below one token."""


def change_picture(document: Document) -> Markup | None:
    """Draw how many tokens changed their probability by how much, beside the floor."""
    found = document["delta_p"]
    if found is None:
        return None
    edges, counts = found["histogram"]["edges"], found["histogram"]["counts"]
    labels = [f"{low:g} to {high:g}" for low, high in pairwise(edges)]
    floor = document["floor"] and document["floor"]["delta_p"]
    series = [("stage", _shares(counts))]
    if floor:
        series.append(("noise floor", _shares(floor["histogram"]["counts"])))

    def plot(axes: Axes) -> None:
        _bars(axes, series)
        axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right")
        axes.set_xlabel("probability of the text's token, stage less reference")
        axes.set_ylabel("share of tokens")
        axes.set_ylim(0, 1)

    says = "; ".join(
        f"{label}: {count} tokens" for label, count in zip(labels, counts, strict=True)
    )
    return picture(plot, key="change", title="Change of probability", says=says, size=SIZE)


def agreement_picture(document: Document) -> Markup | None:
    """Draw the agreement in each bucket of positions with its interval."""
    buckets = (document["by_position"] or {"buckets": []})["buckets"]
    rows = [row for row in buckets if row["top1_agreement"] is not None]
    if not rows:
        return None
    labels = [_range(row["from"] + 1, row["to"] + 1) for row in rows]
    values = [row["top1_agreement"]["value"] for row in rows]
    limits = [
        row["top1_agreement"]["interval"] or [value] * 2
        for row, value in zip(rows, values, strict=True)
    ]

    def plot(axes: Axes) -> None:
        below = [max(0.0, value - low) for value, (low, _) in zip(values, limits, strict=True)]
        above = [max(0.0, high - value) for value, (_, high) in zip(values, limits, strict=True)]
        places = range(len(rows))
        axes.errorbar(
            places,
            values,
            yerr=[below, above],
            color=FIRST,
            marker="o",
            capsize=4,
            linestyle="none",
        )
        axes.set_xticks(places, labels)
        axes.set_xlim(-0.5, len(rows) - 0.5)
        axes.set_xlabel("tokens of the text")
        axes.set_ylabel("top-1 agreement")
        axes.set_ylim(min(0.9, *(low for low, _ in limits)) - 0.01, 1.01)

    says = "; ".join(
        f"tokens {label}: {value:.4g}, interval {low:.4g} to {high:.4g}"
        for label, value, (low, high) in zip(labels, values, limits, strict=True)
    )
    return picture(plot, key="agreement", title="Agreement by position", says=says, size=SIZE)


def rank_picture(document: Document) -> Markup | None:
    """Draw how often the text's token has which rank at the stage, on a logarithmic axis."""
    rank = document["rank"]
    if rank is None or not sum(rank["counts"]):
        return None
    counts = rank["counts"]
    labels = [*map(str, range(1, len(counts))), f"{len(counts)}+"]

    def plot(axes: Axes) -> None:
        axes.bar(range(len(counts)), counts, color=FIRST)
        axes.set_yscale("log")
        axes.set_ylim(bottom=LEAST_SHOWN)
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set_xticks(range(0, len(counts), RANKS_A_LABEL), labels[::RANKS_A_LABEL])
        axes.set_xlabel("rank of the text's token at the stage")
        axes.set_ylabel("tokens")

    shown = [(label, count) for label, count in zip(labels, counts, strict=True) if count]
    says = "; ".join(f"rank {label}: {count} tokens" for label, count in shown)
    return picture(plot, key="rank", title="Rank of the text's token", says=says, size=SIZE)


def _bars(axes: Axes, series: Sequence[tuple[str, Sequence[float]]]) -> None:
    for number, (name, values) in enumerate(series):
        places = [at + (number - (len(series) - 1) / 2) * BAR for at in range(len(values))]
        axes.bar(places, values, width=BAR, color=(FIRST, SECOND)[number], label=name)
    axes.legend(frameon=False, labelcolor=INK)


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} – {last}"
