"""What the program itself does not expect: times of a broken clock, and faults of its own."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from denv.serve.api import api_app
from denv.serve.context import ServeContext
from tests.report import samples
from tests.serve.api.conftest import let_in
from tests.serve.pages.keeping import keep
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone


@pytest.mark.parametrize(
    ("started", "shown"),
    [
        (1e15, "9999-12-31T00:00:00Z"),
        (-1e15, "0001-01-01T00:00:00Z"),
        (0.0, "1970-01-01T00:00:00Z"),
    ],
)
def test_a_clock_gone_wrong_hides_no_run(store, tmp_path, started, shown):
    """A time that no calendar has is told as its end; lists and pages go on."""
    keep(store, samples.failing(), run="odd-1", started=started)
    context = ServeContext(store, tmp_path)
    with TestClient(let_in(api_app(context))) as api:
        assert [row["started"] for row in api.get("/runs").json()["runs"]] == [shown]
        assert api.get("/stages").json()["stages"][0]["latest"]["started"] == shown
        assert api.get("/runs/odd-1").json()["started"] == shown
    with TestClient(app_of(context, Someone())) as pages:
        for path in ("/", "/runs", "/runs/odd-1", "/compare?a=odd-1&b=odd-1"):
            assert pages.get(path).status_code == 200, path


def test_a_fault_of_ours_has_the_form_of_errors(store, tmp_path, monkeypatch):
    """It tells nothing of the inside."""

    def broken():
        raise RuntimeError("inside")

    monkeypatch.setattr(store.browsing, "stages", broken)
    app = let_in(api_app(ServeContext(store, tmp_path)))
    with TestClient(app, raise_server_exceptions=False) as api:
        answer = api.get("/stages")
    assert (answer.status_code, list(answer.json())) == (500, ["reason"])
    assert "inside" not in answer.text
