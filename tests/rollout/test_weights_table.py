"""The weights table: shares split evenly, and read strictly."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from denv.rollout.weights import Party, Table, WeightsError, table_of

NEW = Party("r8", (("a", "http://a/v1"), ("b", "http://b/v1")))
OLD = Party("r7", (("x", "http://x/v1"),))


def weights(table):
    return {weight.replica: weight.weight for weight in table.weights}


def test_traffic_is_split_between_release_and_incumbent():
    """10 % over two replicas is 5 % each, and the incumbent keeps 90 %."""
    table = table_of("s", share=Fraction(1, 10), newcomer=NEW, incumbent=OLD, version=1)
    assert weights(table) == {"a": 0.05, "b": 0.05, "x": 0.9}


def test_a_replica_of_no_weight_stays_in_the_table():
    """At 100 % the incumbent, and after a rollback the release, stand there with 0."""
    whole = table_of("s", share=Fraction(1), newcomer=NEW, incumbent=OLD, version=1)
    none = table_of("s", share=Fraction(0), newcomer=NEW, incumbent=OLD, version=2)
    assert weights(whole) == {"a": 0.5, "b": 0.5, "x": 0.0}
    assert weights(none) == {"a": 0.0, "b": 0.0, "x": 1.0}


def test_a_first_release_is_given_its_share_alone():
    """Without an incumbent the rest of the traffic goes nowhere."""
    table = table_of("s", share=Fraction(1, 2), newcomer=NEW, incumbent=None, version=1)
    assert weights(table) == {"a": 0.25, "b": 0.25}


def test_a_table_survives_json():
    """Thirds are read back as they were written."""
    three = Party("r", tuple((name, f"http://{name}/v1") for name in "abc"))
    table = table_of("s", share=Fraction(1), newcomer=three, incumbent=None, version=3)
    assert Table.from_json(table.to_json()) == table
    reordered = json.dumps(json.loads(table.to_json()), sort_keys=True, indent=1).encode()
    assert Table.from_json(reordered) == table


ROW = '{"release": "r", "replica": "a", "url": "u", "weight": 1}'
HEAD = '{"schema": "denv.weights/1", "stage": "s", "version": 1, "weights": '


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "<html>",
        HEAD.replace("weights/1", "weights/2") + "[]}",
        HEAD.replace("1, ", "true, ") + "[]}",
        HEAD + "[1]}",
        HEAD + "[" + ROW.replace(', "weight": 1', "") + "]}",
        HEAD + "[" + ROW.replace("1}", '"1"}') + "]}",
        HEAD + "[" + ROW.replace("1}", "NaN}") + "]}",
        HEAD + "[" + ROW.replace('"u"', "7") + "]}",
    ],
)
def test_what_is_no_table_is_refused(text):
    """Anything but a table of this form is an error."""
    with pytest.raises(WeightsError):
        Table.from_json(text.encode())


def test_a_weight_beyond_what_a_number_holds_is_no_weight():
    """An integer of hundreds of digits is refused as any other weight that is none."""
    row = f'{{"release": "r", "replica": "a", "url": "http://h/v1", "weight": {10**400}}}'
    text = f'{{"schema": "denv.weights/1", "stage": "s", "version": 1, "weights": [{row}]}}'
    with pytest.raises(WeightsError, match="beyond measure"):
        Table.from_json(text.encode())
