"""Can what a stage sees tell two callers apart? A classifier's held-out AUC with its interval."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier

from tests.router.recording import Seen

CONFIDENCE = 0.999
MAX_HALF_WIDTH = 0.05

TAG = re.compile(rb',"user_tag":"[0-9a-f]{16}"')
"""What alone differs between two requests of a pair."""

_ID = re.compile(rb"(?im)^x-request-id: *([^\r\n]*)")


@dataclass(frozen=True, slots=True)
class Auc:
    """Chance that a request of one class is ranked above one of the other; 0.5 is guessing."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2


def features(seen: Sequence[Seen]) -> np.ndarray:
    """Give what a stage could use of each request, its bytes and its times; shape (n, features)."""
    arrivals = np.array([s.first_byte for s in seen])
    order = np.argsort(arrivals, kind="stable")
    before = np.empty(len(seen))
    after = np.empty(len(seen))
    gaps = np.diff(arrivals[order])
    before[order] = np.concatenate(([np.nan], gaps))
    after[order] = np.concatenate((gaps, [np.nan]))
    rows = [
        (
            *_head(s),
            len(s.body),
            crc32(s.body) % 1009,
            s.reads,
            s.last_byte - s.first_byte,
            s.port,
            s.peer_port,
            s.connection,
            s.nth,
            s.since_connected,
            s.since_last_on_connection,
        )
        for s in seen
    ]
    return np.column_stack((np.array(rows, dtype=float), before, after, _since_twin(seen)))


def _since_twin(seen: Sequence[Seen]) -> np.ndarray:
    """Give how long after the request of equal content each came, negative where before it."""
    pairs: dict[bytes, list[int]] = {}
    for n, one in enumerate(seen):
        pairs.setdefault(TAG.sub(b"", one.body), []).append(n)
    since = np.full(len(seen), np.nan)
    for first, second in pairs.values():
        since[second] = seen[second].first_byte - seen[first].first_byte
        since[first] = -since[second]
    return since


def _head(seen: Seen) -> tuple[float, ...]:
    """Give lengths, a hash of the head without its id, and the id itself as numbers."""
    found = _ID.search(seen.head)
    name = found[1] if found else b""
    rest = seen.head.replace(name, b"") if name else seen.head
    return (
        len(seen.head),
        seen.head.count(b"\r\n"),
        crc32(rest) % 100_003,
        len(name),
        float(name[0]) if name else -1.0,
        float(name[-1]) if name else -1.0,
        float(np.mean(np.frombuffer(name, np.uint8))) if name else -1.0,
    )


def auc(scores: np.ndarray, labels: np.ndarray) -> Auc:
    """Give the area under the ROC curve with DeLong's interval.

    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845; the placement values are
    computed by midranks (Sun and Xu, 2014). ``scores`` and ``labels``, booleans, have shape (n,).
    """
    positive, negative = scores[labels], scores[~labels]
    m, n = len(positive), len(negative)
    ranks = stats.rankdata(np.concatenate((positive, negative)))
    among_positive = (ranks[:m] - stats.rankdata(positive)) / n
    among_negative = 1 - (ranks[m:] - stats.rankdata(negative)) / m
    value = float(among_positive.mean())
    variance = among_positive.var(ddof=1) / m + among_negative.var(ddof=1) / n
    half = float(stats.norm.ppf((1 + CONFIDENCE) / 2) * np.sqrt(variance))
    return Auc(value, value - half, value + half)


def held_out_auc(seen: Sequence[Seen], labels: Sequence[bool], *, seed: int) -> Auc:
    """Train on half of the requests, drawn at random; tell how the other half is told apart."""
    given, truth = features(seen), np.array(labels)
    rng = np.random.default_rng(seed)
    train = np.zeros(len(truth), dtype=bool)
    for label in (True, False):
        members = np.flatnonzero(truth == label)
        train[rng.permutation(members)[: len(members) // 2]] = True
    model = HistGradientBoostingClassifier(max_iter=100, random_state=seed, early_stopping=False)
    model.fit(given[train], truth[train])
    return auc(model.predict_proba(given[~train])[:, 1], truth[~train])
