"""Two sides' readings of one text, position by position, as arrays of figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from math import exp, nan

import numpy as np
import numpy.typing as npt

from denv.instruments.tokens.forcing import Forced
from denv.records import TokenLogprob, TopLogprob
from denv.stats.divergence import MASS_TOLERANCE, kl_lower_bound, reported_mass, total_variation

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

RANK_CAP = 21
"""A token that is not among the likeliest 20 has this rank, whatever its own is."""

MIN_ALTERNATIVES = 2
"""A list of one token is no distribution."""

Table = Mapping[object, float]


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """One text's positions that both sides read; every array has an entry a position.

    ``index`` counts the text's tokens from 0. ``p_own`` and ``q_own`` are the logprobs of the
    text's own token: reference and stage; where a side does not list it they are the least that
    it lists, and ``unlisted`` says so. ``agrees`` is whether both have the same likeliest token,
    ``rank`` what the text's token has at the stage. ``kl``, ``tv_low`` and ``tv_high`` bound what
    the lists show, and ``unreported`` is the reference's mass that they do not. All that needs
    the reference's distribution is NaN where it gives none.
    """

    index: IntArray
    agrees: FloatArray
    rank: FloatArray
    p_own: FloatArray
    q_own: FloatArray
    kl: FloatArray
    tv_low: FloatArray
    tv_high: FloatArray
    unreported: FloatArray
    unlisted: npt.NDArray[np.bool_]
    by_ids: bool
    skipped: int

    @property
    def count(self) -> int:
        """How many positions were compared."""
        return len(self.index)

    def where(self, chosen: npt.NDArray[np.bool_]) -> Positions:
        """Give the chosen positions alone."""
        arrays = {name: getattr(self, name)[chosen] for name in _ARRAYS}
        return replace(self, **arrays)


_ARRAYS = tuple(one.name for one in fields(Positions) if one.name not in {"by_ids", "skipped"})


@dataclass(frozen=True, slots=True)
class _Row:
    """The figures of one position."""

    index: int
    agrees: float
    rank: int
    p_own: float
    q_own: float
    unlisted: bool
    p: Table
    q: Table


def compare(
    reference: Forced,
    stage: Forced,
    *,
    same_ids: bool,
    same_places: bool = False,
    distribution: bool = True,
) -> Positions:
    """Compare two readings of one text.

    Parameters
    ----------
    reference, stage
        What each side says at each of its tokens; None where it says nothing.
    same_ids
        Whether both were given the same token ids, so that positions have the same index and
        ids mean the same.
    same_places
        Whether positions have the same index though ids may not mean the same. If neither,
        tokens are paired that cover the same bytes of the text.
    distribution
        Whether the reference's logprobs are real; if not, its own token alone is used.
    """
    by_index = same_ids or same_places
    pairs = list(_by_index(reference, stage) if by_index else _by_bytes(reference, stage))
    known = [(i, p, q) for i, p, q in pairs if p is not None and q is not None]
    by_ids = same_ids and all(_has_ids(one) for _, p, q in known for one in (p, q))
    rows = [_row(i, p, q, by_ids=by_ids, distribution=distribution) for i, p, q in known]
    kept = [row for row in rows if row is not None]
    return _arrays(kept, by_ids=by_ids, skipped=max(len(reference), len(stage)) - len(kept))


def table(entry: TokenLogprob, *, by_ids: bool) -> dict[object, float]:
    """Give the logprob of each token that an entry lists, its own among them.

    By bytes, tokens that are written alike are one cell, which is no less true. A token without
    bytes is a part of a character on one server and a control token on another, so it belongs to
    the rest, unless the text ends with it.
    """
    own = TopLogprob(entry.token, entry.logprob, entry.bytes, entry.id)
    found: dict[object, float] = {}
    for one in _distinct((*entry.top, own)):
        key = _key(one, by_ids=by_ids)
        if key is None or one.logprob is None or (key == b"" and not _same(one, own)):
            continue
        found[key] = float(np.logaddexp(found[key], one.logprob)) if key in found else one.logprob
    return found


def _distinct(entries: Sequence[TopLogprob]) -> Iterator[TopLogprob]:
    """Give each token once: its own entry repeats one of the alternatives.

    Some servers show the id of the own token alone; then tokens are told apart by their text.
    """
    seen: set[object] = set()
    ids = all(one.id is not None for one in entries)
    for one in entries:
        mark = one.id if ids else (one.token, one.bytes)
        if mark not in seen:
            seen.add(mark)
            yield one


def _same(one: TopLogprob, own: TopLogprob) -> bool:
    return (one.token, one.bytes) == (own.token, own.bytes)


def _key(entry: TopLogprob | TokenLogprob, *, by_ids: bool) -> object:
    return entry.id if by_ids else entry.bytes


def _has_ids(entry: TokenLogprob) -> bool:
    return entry.id is not None and all(one.id is not None for one in entry.top)


def _by_index(
    reference: Forced, stage: Forced
) -> Iterator[tuple[int, TokenLogprob | None, TokenLogprob | None]]:
    for index, (p, q) in enumerate(zip(reference, stage, strict=False)):
        yield index, p, q


def _by_bytes(
    reference: Forced, stage: Forced
) -> Iterator[tuple[int, TokenLogprob | None, TokenLogprob | None]]:
    """Pair tokens that begin and end at the same bytes; the end token has none and comes last."""
    ours = {span: entry for span, _, entry in _spans(stage)}
    for span, index, entry in _spans(reference):
        if span in ours:
            yield index, entry, ours[span]


def _spans(forced: Forced) -> Iterator[tuple[tuple[int, int], int, TokenLogprob]]:
    """Give each token's bytes' place in the text, up to the first whose bytes are not known."""
    pieces: list[bytes] = []
    for entry in forced:
        if entry is None or entry.bytes is None:
            break
        pieces.append(entry.bytes)
    ends = list(accumulate(map(len, pieces), initial=0))
    for index, piece in enumerate(pieces):
        if piece or index == len(forced) - 1:
            yield (ends[index], ends[index + 1]), index, forced[index]


def _row(
    index: int, p: TokenLogprob, q: TokenLogprob, *, by_ids: bool, distribution: bool
) -> _Row | None:
    """Give the figures of a position, None where the stage lists nothing to compare."""
    theirs = table(p, by_ids=by_ids) if distribution else {}
    ours = table(q, by_ids=by_ids)
    own = _key(q, by_ids=by_ids)
    if not _is_distribution(ours) or own is None:
        return None
    if distribution and not _is_distribution(theirs):
        return None
    least = min(ours.values())
    expected = _likeliest(theirs) if distribution else {_key(p, by_ids=by_ids)}
    return _Row(
        index=index,
        agrees=float(not _likeliest(ours).isdisjoint(expected)),
        rank=_rank(own, ours),
        p_own=theirs.get(own, min(theirs.values())) if distribution else nan,
        q_own=ours.get(own, least),
        unlisted=own not in ours or (distribution and own not in theirs),
        p=theirs,
        q=ours,
    )


def _is_distribution(listed: Table) -> bool:
    mass = sum(exp(min(value, 1.0)) for value in listed.values())
    return len(listed) >= MIN_ALTERNATIVES and 0 < mass <= 1 + MASS_TOLERANCE


def _likeliest(listed: Table) -> set[object]:
    most = max(listed.values())
    return {key for key, value in listed.items() if value == most}


def _rank(own: object, listed: Table) -> int:
    if own not in listed:
        return min(RANK_CAP, len(listed) + 1)
    return min(RANK_CAP, 1 + sum(value > listed[own] for value in listed.values()))


def _arrays(rows: Sequence[_Row], *, by_ids: bool, skipped: int) -> Positions:
    bounds = np.array([_bounds(row) for row in rows], dtype=np.float64).reshape(len(rows), 4)
    return Positions(
        index=np.array([row.index for row in rows], dtype=np.int64),
        agrees=np.array([row.agrees for row in rows], dtype=np.float64),
        rank=np.array([row.rank for row in rows], dtype=np.float64),
        p_own=np.array([row.p_own for row in rows], dtype=np.float64),
        q_own=np.array([row.q_own for row in rows], dtype=np.float64),
        kl=bounds[:, 0],
        tv_low=bounds[:, 1],
        tv_high=bounds[:, 2],
        unreported=bounds[:, 3],
        unlisted=np.array([row.unlisted for row in rows], dtype=np.bool_),
        by_ids=by_ids,
        skipped=skipped,
    )


def _bounds(row: _Row) -> tuple[float, float, float, float]:
    """Bound the divergence of one position by what its two lists share."""
    if not row.p:
        return nan, nan, nan, nan
    keys = row.p.keys() | row.q.keys()
    p = np.array([row.p.get(key, nan) for key in keys])
    q = np.array([row.q.get(key, nan) for key in keys])
    distance = total_variation(p, q)
    unreported = max(0.0, 1.0 - float(reported_mass(p)))
    return float(kl_lower_bound(p, q)), float(distance.lower), float(distance.upper), unreported
