"""The digest of what a proof is of: only a pass for exactly these things counts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

PROOF_TAG = "denv.proof/1:sha256:"


def proof_digest(
    *,
    release: str,
    suite: str,
    golden: str | None,
    reference: Mapping[str, Any],
    parity: Mapping[str, Any],
) -> str:
    """Give the tagged digest of a release, its suite, golden prompts, reference and settings.

    Parameters
    ----------
    release
        The digest of the release's settings.
    suite, golden
        The sha256 of each file's bytes; None where there are no golden prompts.
    reference
        The trusted side without its key: URL, model, extra fields.
    parity
        Thresholds and everything else that could change a verdict.
    """
    plain = {
        "release": release,
        "suite": suite,
        "golden": golden,
        "reference": dict(reference),
        "parity": dict(parity),
    }
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return PROOF_TAG + hashlib.sha256(canonical.encode()).hexdigest()
