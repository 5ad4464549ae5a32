"""The fields that Argo Rollouts and Flagger document, as JSON Schemas of what is used here.

Argo Rollouts: ``docs/features/analysis.md``, ``docs/analysis/web.md``, ``docs/analysis/job.md``
and ``pkg/apis/rollouts/v1alpha1/analysis_types.go`` of argoproj/argo-rollouts: API version
``argoproj.io/v1alpha1``, kind ``AnalysisTemplate``. A metric with both conditions that meets
none of them is Inconclusive; an error is measured again after 10 s (``DefaultErrorRetryInterval``
in ``analysis/analysis.go``) up to ``consecutiveErrorLimit`` times (4 by default); a Job is
successful with exit code 0, else failed; any HTTP status but 200 to 299 is an error.

Flagger: ``artifacts/flagger/crd.yaml`` and ``docs/gitbook/usage/webhooks.md`` of fluxcd/flagger:
API version ``flagger.app/v1beta1``, kind ``Canary``. The webhook's status decides: 200 to 202
goes on.
"""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
DURATION = {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"}


def closed(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    """Give the schema of an object with these fields and no others."""
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


def each(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 1}


_ARGUMENT = closed(
    ("name",),
    name=TEXT,
    value=TEXT,
    valueFrom=closed((), secretKeyRef=closed(("name", "key"), name=TEXT, key=TEXT)),
)
_WEB = closed(
    ("url",),
    url=TEXT,
    method={"enum": ["GET", "POST", "PUT"]},
    headers=each(closed(("key", "value"), key=TEXT, value=TEXT)),
    body=TEXT,
    timeoutSeconds={"type": "integer", "minimum": 1},
    jsonPath={"type": "string", "pattern": r"^\{\$\..+\}$"},
)
_JOB = closed(("spec",), metadata={"type": "object"}, spec={"type": "object"})
_METRIC = closed(
    ("name", "provider"),
    name=TEXT,
    interval=DURATION,
    initialDelay=DURATION,
    count={"type": "integer"},
    successCondition=TEXT,
    failureCondition=TEXT,
    failureLimit={"type": "integer"},
    inconclusiveLimit={"type": "integer"},
    consecutiveErrorLimit={"type": "integer"},
    provider={**closed((), web=_WEB, job=_JOB), "minProperties": 1, "maxProperties": 1},
)
_METADATA = closed(("name",), name=TEXT, namespace=TEXT)

ANALYSIS_TEMPLATE = closed(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "argoproj.io/v1alpha1"},
    kind={"const": "AnalysisTemplate"},
    metadata=_METADATA,
    spec=closed(("metrics",), args=each(_ARGUMENT), metrics=each(_METRIC)),
)

_WEBHOOK = closed(
    ("name", "url"),
    name=TEXT,
    type={
        "enum": [
            "",
            "confirm-rollout",
            "pre-rollout",
            "rollout",
            "confirm-promotion",
            "post-rollout",
            "event",
            "rollback",
            "confirm-traffic-increase",
        ]
    },
    muteAlert={"type": "boolean"},
    url={"type": "string", "pattern": "^https?://"},
    timeout={"type": "string", "pattern": "^[0-9]+(m|s)"},
    retries=NUMBER,
    disableTLS={"type": "boolean"},
    metadata={"type": "object", "additionalProperties": TEXT},
)
_TARGET = closed(
    ("apiVersion", "kind", "name"),
    apiVersion=TEXT,
    kind={"enum": ["DaemonSet", "Deployment", "Service"]},
    name=TEXT,
)

CANARY = closed(
    ("apiVersion", "kind", "metadata", "spec"),
    apiVersion={"const": "flagger.app/v1beta1"},
    kind={"const": "Canary"},
    metadata=_METADATA,
    spec=closed(
        ("targetRef", "analysis"),
        targetRef=_TARGET,
        progressDeadlineSeconds=NUMBER,
        service=closed(("port",), port=NUMBER),
        analysis=closed(
            ("interval", "threshold"),
            interval={"type": "string", "pattern": "^[0-9]+(m|s)"},
            threshold=NUMBER,
            maxWeight=NUMBER,
            stepWeight=NUMBER,
            webhooks=each(_WEBHOOK),
        ),
    ),
)
