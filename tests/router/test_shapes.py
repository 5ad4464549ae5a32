"""The table of traffic's shapes: what is counted, what is folded away, and what is drawn of it."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.errors import UsageError
from denv.router.shapes import LEAST, MOST_KEPT, Shapes, shape_of
from denv.runner.drawing import Shapes as Drawing

BODY = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "s" * 200},
        {"role": "user", "content": [{"type": "text", "text": "u" * 100}, {"type": "image_url"}]},
    ],
    "stream": True,
    "max_tokens": 200,
    "temperature": 0.7,
    "response_format": {"type": "json_schema", "json_schema": {"name": "secret-name"}},
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
bodies = st.dictionaries(
    st.sampled_from([*BODY, "tools", "top_p", "seed", "logprobs", "max_completion_tokens"]),
    json_values,
)


def counted(*bodies_and_times):
    shapes = Shapes()
    for body, times in bodies_and_times:
        for _ in range(times):
            shapes.add(body)
    return shapes


def test_a_request_is_counted_by_words_and_ranges():
    """A shape says which parameters are set, and how large a request is by ranges alone."""
    assert shape_of(BODY)._asdict() == {
        "stream": True, "tools": False, "response_format": "json_schema", "max_tokens": "256",
        "temperature": "set", "top_p": "unset", "seed": "unset", "logprobs": False,
        "messages": "2", "prompt": "1024",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("temperature", 0, "zero"), ("temperature", 0.0, "zero"), ("temperature", None, "unset"),
        ("max_tokens", 16, "16"), ("max_tokens", 17, "64"), ("max_tokens", 10**9, "more"),
        ("max_tokens", None, "unset"), ("max_tokens", "no number", "more"), ("seed", 0, "set"),
        ("response_format", {"type": "grammar"}, "other"),
    ],
)  # fmt: skip
def test_ranges_and_words(field, value, named):
    """Each value falls into the range or word that stands for it."""
    assert getattr(shape_of({**BODY, field: value}), field) == named


def test_rare_shapes_are_folded_away():
    """A combination that fewer than 20 requests have is counted and not shown."""
    rare = {**BODY, "top_p": 0.1}
    document = counted((BODY, LEAST), (rare, LEAST - 1)).document()
    assert [cell["count"] for cell in document["cells"]] == [LEAST]
    assert (document["requests"], document["folded"]) == (2 * LEAST - 1, LEAST - 1)


@given(bodies, bodies)
def test_no_text_of_a_request_is_kept(body, other):
    """Whatever stands in a request, the table holds words of its own alone and can be read."""
    marked = {**body, "messages": [{"role": "user", "content": "customer-text"}], "user": "someone"}
    shapes = counted((marked, LEAST), (other, LEAST))
    text = shapes.to_json().decode()
    assert "customer-text" not in text
    assert "someone" not in text
    words = {"unset", "set", "zero", "more", "other", "text", "json_object", "json_schema"}
    for cell in json.loads(text)["cells"]:
        values = {value for value in cell.values() if isinstance(value, str)}
        assert all(value in words or value.isdecimal() for value in values)
    assert Drawing.from_json(text).draw(random.Random(0)).stream in {True, False}


def test_memory_is_bounded():
    """No more than so many combinations are kept, whatever is sent; later ones are counted."""
    shapes = Shapes()
    for number in range(3 * MOST_KEPT):
        flags = [bool(number >> bit & 1) for bit in range(14)]
        names = ("stream", "tools", "logprobs", "top_p", "seed")
        body: dict[str, Any] = dict(zip(names, (flag or None for flag in flags), strict=False))
        body["messages"] = [{"content": ""}] * 2 ** (number // 32 % 7)
        body["max_tokens"] = 4 ** (number // 224 % 8 + 1)
        body["temperature"] = (None, 0, 1)[number // 1792 % 3]
        body["response_format"] = {"type": ("text", "json_object")[number // 5376 % 2]}
        shapes.add(body)
    assert len(shapes._counts) <= MOST_KEPT
    assert shapes.document()["requests"] == 3 * MOST_KEPT


@pytest.mark.parametrize("body", [None, [], "text", 3])
def test_what_is_no_object_is_not_counted(body):
    """A body of another form changes nothing."""
    assert counted((body, 30)).document()["requests"] == 0


def test_draws_are_as_frequent_as_traffic():
    """Parameters are drawn as often as requests have them."""
    text = counted((BODY, 300), ({**BODY, "stream": False, "max_tokens": None}, 100)).to_json()
    table, rng = Drawing.from_json(text.decode()), random.Random(5)
    drawn = [table.draw(rng) for _ in range(4000)]
    assert 0.72 < sum(one.stream for one in drawn) / 4000 < 0.78
    assert {(one.stream, one.max_tokens) for one in drawn} == {(True, 256), (False, None)}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no table of shapes"),
        ('{"schema": "denv.shapes/2"}', "of the form denv.shapes/1"),
        ('{"schema": "denv.shapes/1", "cells": 3}', "cells: a list"),
        ('{"schema": "denv.shapes/1", "cells": []}', "has no cell"),
        ('{"schema": "denv.shapes/1", "cells": [3]}', r"cells\[0\] is not an object"),
        ('{"schema": "denv.shapes/1", "cells": [{"stream": 1}]}', r"cells\[0\].stream"),
        (
            '{"schema": "denv.shapes/1", "cells": [{"stream": true, "count": 0}]}',
            r"cells\[0\].count",
        ),
        (
            '{"schema": "denv.shapes/1", "cells": [{"stream": true, "count": 1, "max_tokens": 1}]}',
            r"cells\[0\].max_tokens",
        ),
    ],
)
def test_tables_that_are_none(text, why):
    """What is no table of shapes is refused by the place that is wrong."""
    with pytest.raises(UsageError, match=why):
        Drawing.from_json(text)
