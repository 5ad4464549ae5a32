"""The API against requests that schemathesis makes up from its own description."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from starlette.applications import Starlette
from starlette.routing import Mount

from denv.serve.api.answers import add_handlers
from denv.serve.api.application import PREFIX, api_app, openapi_document
from tests.serve.api.conftest import let_in

load_all_checks()
# The rules of access stand in front of the API: whether they are ignored is asked where they are.
# That there is no engine here is a 503 that is looked at below.
ASKED_ELSEWHERE = [
    check for check in CHECKS.get_all() if check.__name__ in {"ignored_auth", "not_a_server_error"}
]
OPERATIONS = [
    (path, method) for path, methods in openapi_document()["paths"].items() for method in methods
]


@pytest.fixture(scope="module")
def described(context):
    """Give the API as its own document describes it."""
    app = Starlette(routes=[Mount(PREFIX, let_in(api_app(context)))])
    add_handlers(app)  # a path that is none of the API's is told of as it is there
    return schemathesis.openapi.from_asgi(f"{PREFIX}/openapi.json", app)


@pytest.fixture(scope="module")
def known(context):
    """Give what parameters of paths can name that is there."""
    browsing = context.store.browsing
    return {
        "run": [row.run for row in browsing.runs()],
        "measure": [row.measure for row in browsing.measures()],
        "rollout": [record.rollout for record in context.store.rollouts.list_rollouts()],
        "alarm": [record.alarm for record in context.store.alarms.list_alarms()],
        "name": ["nightly", "paused"],
        "publication": ["0" * 32],
        "index": ["0", "3", "9"],
    }


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("path", "method"), OPERATIONS, ids=[f"{m} {p}" for p, m in OPERATIONS])
def test_no_request_breaks_the_description(described, known, path, method, mode):
    """Whatever is asked, the answer has a status and a form that the document tells of."""
    operation = described[path][method]

    @settings(max_examples=5, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        if mode.is_positive:  # what is there, half the time; a wrong path is to stay wrong
            for name, value in (case.path_parameters or {}).items():
                if len(str(value)) % 2:
                    case.path_parameters[name] = known[name][0]
        answer = case.call_and_validate(excluded_checks=ASKED_ELSEWHERE)
        if answer.status_code >= 500:
            assert (answer.status_code, method) == (503, "post")
            assert "without an engine" in answer.json()["reason"]

    ask()
