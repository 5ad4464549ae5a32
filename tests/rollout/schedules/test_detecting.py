"""All detectors of a schedule together."""

from __future__ import annotations

import json

import numpy as np
import pytest

from denv.errors import StoreError
from denv.rollout.schedules.detecting import Counted, Detectors

BOUNDS = {"threshold:exact": 0.05, "drift:stage": 0.04, "drift:reference": 0.04}


def test_threshold_is_shared():
    """Three detectors alarm at three times the stated looks each; a bound of 1 has none."""
    found = Detectors.start({**BOUNDS, "threshold:logprobs": 1.0}, between=1460)
    assert {one.threshold for one in found.by_name.values()} == {3 * 1460}
    assert "threshold:logprobs" not in found.by_name


def test_a_change_alarms_and_begins_anew():
    """The detector of what changed alarms, the others go on; afterwards it starts from nothing."""
    found = Detectors.start(BOUNDS, between=1460)
    found, alarms = found.look(dict.fromkeys(BOUNDS, Counted(1, 50)))
    assert alarms == ()
    found, alarms = found.look({"drift:stage": Counted(25, 50), "drift:reference": Counted(0, 50)})
    assert alarms == ("drift:stage",)
    assert found.by_name["drift:stage"].looks == 0
    assert found.by_name["drift:reference"].looks == 2
    assert found.by_name["threshold:exact"].looks == 1


def test_state_survives_the_store():
    """Written as strict JSON and read back, it goes on the same."""
    found, _ = Detectors.start(BOUNDS, between=100).look(dict.fromkeys(BOUNDS, Counted(3, 50)))
    kept = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert Detectors.from_json(kept) == found


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"form": "denv.detectors/2", "between": 9, "by_name": {}},
        {"form": "denv.detectors/1", "between": 9, "by_name": {"x": {"bound": 2}}},
        {"form": "denv.detectors/1", "between": 9, "by_name": [1]},
    ],
)
def test_another_form_is_refused(kept):
    """What is no state is said to be none."""
    with pytest.raises(StoreError, match="state of the detectors"):
        Detectors.from_json(kept)


def test_mean_time_between_false_alarms_of_all_together():
    """Three streams at their bounds: over 40 alarms, they are apart by 30 looks on average."""
    rng = np.random.default_rng(3)
    detectors, found, count = Detectors.start(BOUNDS, between=30), 0, 0
    while found < 40:
        looks = {name: Counted(int(rng.binomial(40, b)), 40) for name, b in BOUNDS.items()}
        detectors, alarms = detectors.look(looks)
        count += 1
        found += bool(alarms)
    assert count / found >= 30
