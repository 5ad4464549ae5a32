"""A run against stub servers that is published, for tests of what is made of it."""

from __future__ import annotations

import json

from tests import suites
from tests.stubs import answers

HOST = "gpu-rack-07.prod.example.internal"
PLANTED = {
    "key": "sk-planted-0123456789abcdef",
    "bearer": "eyPlantedBearer0123456789",
    "credentials": "planted-user:planted-pass",
    "host": HOST,
    "other host": "db-3.cluster.corp",
    "address": "10.77.3.9",
    "address of six": "2001:db8:77::9",
    "folder": "/srv/planted/models",
    "mail": "planted@customer.example.com",
    "header": "planted-header-value-42",
    "private": "hidden-prompt",
}
ERROR = (
    f"upstream http://{PLANTED['credentials']}@{HOST}:8443/v1 refused {PLANTED['key']}: "
    f"Authorization: Bearer {PLANTED['bearer']}; tried {PLANTED['address']}:9000 and "
    f"[{PLANTED['address of six']}]:80, {PLANTED['other host']}, read "
    f"{PLANTED['folder']}/m.gguf for {PLANTED['mail']}; x-secret: {PLANTED['header']}"
)


def stage_of(*, wrong=(), refused=()):
    """Answer with the prompt's number, wrongly or not at all for some; private ones rightly."""

    def handler(request, n):
        text = request["messages"][-1]["content"]
        number = text.split()[1].rstrip(";") if text.startswith("number") else None
        if number in refused:
            return answers.error(400, ERROR)
        return answers.completion("no" if number in wrong else text)

    return handler


def private_suite(folder):
    """Write private cases, whose prompts and ids say what they are."""
    lines = [
        suites.line(f"hidden-id-{n}", f"hidden-prompt {n};", {"contains": f"hidden-prompt {n};"})
        for n in range(12)
    ]
    return suites.write(folder, lines, "hidden-suite.jsonl")


async def run(denv, serve, folder, *more, cases=20, **faults):
    """Run a suite, and give its path and the id of the run."""
    suite = suites.write(folder, suites.numbered(cases), "core.jsonl")
    stage, reference = await serve(stage_of(**faults)), await serve()
    ended = await denv(
        *("parity", "run", "--suite", suite, "--pass", "exact=90%", "--json", "-", "--quiet"),
        *("--stage", stage.url, "--reference", reference.url, *more),
    )
    assert ended.code in {0, 1, 3}, ended.err
    return suite, json.loads(ended.out)["run"]
