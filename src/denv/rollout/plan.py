"""A rollout's plan: everything resolved and fixed at its start, as strict JSON without a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from denv import strictjson
from denv.encode import DEFAULT_MAX_TOKENS
from denv.errors import StoreError, UsageError
from denv.recipes import Recipe
from denv.recipes import load as load_recipe
from denv.records import Endpoint, Json, Replica, Thresholds
from denv.release import AlarmEntry, Release, Rollout, Sink
from denv.rollout.digests import proof_digest
from denv.rollout.kept import KeptSuite, keep_suite
from denv.rollout.sides import PlannedReplica, PlannedSide, replicas_of, side_of
from denv.rollout.weights import Party
from denv.runner import PrivatePart, Settings
from denv.verdict import check_thresholds, effective_rates

SCHEMA: Literal["denv.rollout.plan/1"] = "denv.rollout.plan/1"
LOOK_CASES = 50
MANY_CASES = 500
"""From here on a suite is asked in shards even where the release names no number of them."""

SHARDS_OF_MANY = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a rollout does, fixed; paths are absolute, keys are names.

    ``folder`` is the release's, in which its commands run. ``golden`` is None where neither the
    release nor its recipe names golden prompts, ``private`` where the release names no private
    part of the suite. ``rollout`` holds no open default any more; its
    replicas and golden prompts are those of the plan itself.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    schema: Literal["denv.rollout.plan/1"]
    release: str
    release_digest: str
    proof_digest: str
    folder: str
    stage: PlannedSide
    reference: PlannedSide
    max_age_s: float | None
    replicas: tuple[PlannedReplica, ...]
    suite: KeptSuite
    golden: KeptSuite | None
    thresholds: Thresholds
    repeats: int
    max_tokens: int
    engine: Mapping[str, Json] | None
    recipe: str | None
    rollout: Rollout
    alarms: tuple[AlarmEntry, ...]
    private: KeptSuite | None = None

    @property
    def batches(self) -> tuple[Fraction, ...]:
        """The traffic's share of each batch, rising to 1."""
        return self.rollout.batches

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """Where alarms go, in the order of the release."""
        return tuple(entry.sink for entry in self.alarms)

    def replicas_at(self, batch: int) -> tuple[PlannedReplica, ...]:
        """Give the replicas that are there in a batch (from 1)."""
        return tuple(replica for replica in self.replicas if replica.batch <= batch)

    def new_at(self, batch: int) -> tuple[PlannedReplica, ...]:
        """Give the replicas that come with a batch (from 1)."""
        return tuple(replica for replica in self.replicas if replica.batch == batch)

    def proven_at(self, batch: int) -> tuple[PlannedReplica, ...]:
        """Give the replicas that a batch's checks cover: the new ones, else all that are there."""
        return self.new_at(batch) or self.replicas_at(batch)

    def party(self, batch: int | None = None) -> Party:
        """Give the release as it takes part in the weights: in a batch (from 1), or whole."""
        taking = self.replicas if batch is None else self.replicas_at(batch)
        return Party(self.release, tuple((replica.name, replica.url) for replica in taking))

    def settings(self) -> Settings:
        """Give the settings of the rollout's parity runs."""
        return Settings(
            thresholds=self.thresholds,
            max_tokens=self.max_tokens,
            repeats=self.repeats,
            max_age_s=self.max_age_s,
            release=self.release,
            engine=self.engine,
            recipe=self.recipe,
        )

    def proof_settings(self) -> Settings:
        """Give the settings of a run of the whole suite, with its private part.

        Raises
        ------
        StoreError
            The copy of the private part is gone, or was changed.
        """
        private = None if self.private is None else PrivatePart(self.private.load())
        return replace(self.settings(), private=private)

    def stage_at(self, batch: int) -> Endpoint:
        """Build the stage as a batch (from 1) proves it: over its new replicas, where there are.

        Raises
        ------
        UsageError
            A key cannot be read.
        """
        return self.stage_over(self.proven_at(batch))

    def stage_served(self) -> Endpoint:
        """Build the stage as schedules ask it: at its URL, or each replica behind its router.

        Raises
        ------
        UsageError
            A key cannot be read.
        """
        return (
            self.stage.endpoint() if self.stage.router is None else self.stage_over(self.replicas)
        )

    def stage_over(self, replicas: Sequence[PlannedReplica]) -> Endpoint:
        """Build the stage as it is asked over some replicas: each at its URL, or by a permit.

        Raises
        ------
        UsageError
            A key cannot be read.
        """
        stage, router = self.stage.endpoint(), self.stage.router
        if router is not None:
            named = tuple(Replica(one.name, stage.url) for one in replicas)
            return replace(stage, replicas=named, permits=router.read())
        if [replica.url for replica in replicas] == [self.stage.url]:
            return stage
        at = tuple(Replica(one.name, one.url, one.key.read()) for one in replicas)
        return replace(stage, replicas=at)

    def endpoint_of(self, replica: PlannedReplica) -> Endpoint:
        """Build the endpoint of one replica, through the router if there is one; keys are read now.

        Raises
        ------
        UsageError
            A key cannot be read.
        """
        if self.stage.router is not None:
            return replace(self.stage_over((replica,)), name=replica.name)
        return PlannedSide(
            url=replica.url,
            model=self.stage.model,
            key=replica.key,
            headers=self.stage.headers,
            extra=self.stage.extra,
        ).endpoint(name=replica.name)

    def to_json(self) -> str:
        """Write the plan as strict JSON."""
        return _adapter().dump_json(self, by_alias=True).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Plan:
        """Read a plan back.

        Raises
        ------
        StoreError
            The text is no plan of this form; what stands in it is not shown.
        """
        try:
            strictjson.loads(text)
            return _adapter().validate_json(text, strict=True)
        except strictjson.StrictJsonError as error:
            raise StoreError(f"the kept plan of the rollout is no strict JSON: {error}") from None
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(str(key) for key in first["loc"])
            raise StoreError(
                f"the kept plan of the rollout cannot be read: {where}: {first['msg']}"
            ) from None


@cache
def _adapter() -> TypeAdapter[Plan]:
    return TypeAdapter(Plan)


def recipe_of(release: Release) -> Recipe | None:
    """Load the recipe that a release names.

    Raises
    ------
    UsageError
        There is no such recipe, or its file is wrong.
    """
    if release.recipe is None:
        return None
    return load_recipe(release.recipe, beside=release.path.parent)


def freeze(release: Release, recipe: Recipe | None = None, *, data_folder: Path) -> Plan:
    """Resolve a release to its plan, and keep copies of its suite and golden prompts.

    Raises
    ------
    UsageError
        Something that a rollout needs is not named; each line says what, and where to write it.
    StoreError
        The copies cannot be written.
    """
    suite_path = release.suite or (recipe.suite if recipe else None)
    reference = release.parity.reference
    if suite_path is None or reference is None:
        raise UsageError("\n".join(_missing(release, has_suite=suite_path is not None)))
    if release.stage.router is not None and not release.rollout.replicas:
        raise UsageError(
            f"{release.path}: rollout.replicas: missing: name the replicas behind the router"
        )
    suite = keep_suite(suite_path, data_folder)
    # A release that brings its own suite names a recipe for its adapter and golden prompts.
    whole = recipe if release.suite is None else None
    thresholds = _thresholds(release, whole, suite)
    stage, trusted = side_of(release, release.stage), side_of(release, reference)
    golden = _golden(release, recipe, data_folder)
    private = None if release.private is None else keep_suite(release.private, data_folder)
    max_tokens = (whole.max_tokens if whole else None) or DEFAULT_MAX_TOKENS
    proof = proof_digest(
        release=release.digest,
        suite=suite.sha256,
        golden=None if golden is None else golden.sha256,
        reference={"url": trusted.url, "model": trusted.model, "extra": dict(trusted.extra)},
        parity={
            **_parity(release, thresholds, max_tokens=max_tokens),
            **({} if private is None else {"private": private.sha256}),
        },
    )
    engine = release.engine
    return Plan(
        schema=SCHEMA,
        release=release.name,
        release_digest=release.digest,
        proof_digest=proof,
        folder=str(release.path.parent.absolute()),
        stage=stage,
        reference=trusted,
        max_age_s=reference.max_age,
        replicas=replicas_of(release, stage),
        suite=suite,
        golden=golden,
        thresholds=thresholds,
        repeats=release.parity.repeats,
        max_tokens=max_tokens,
        engine=None if engine is None else engine.model_dump(mode="json"),
        recipe=release.recipe if whole is None else whole.label,
        rollout=_resolved(release, cases=suite.cases),
        alarms=tuple(AlarmEntry.of(sink) for sink in release.alarms),
        private=private,
    )


def _missing(release: Release, *, has_suite: bool) -> Iterable[str]:
    if not has_suite:
        yield f"{release.path}: parity.suite: missing: name a suite's file, or a recipe"
    if release.parity.reference is None:
        yield f"{release.path}: parity.reference: missing: a rollout needs a side that is trusted"


def _thresholds(release: Release, recipe: Recipe | None, suite: KeptSuite) -> Thresholds:
    base = release.parity.thresholds
    rates, confidence = base.rates, base.confidence
    if not rates and recipe is not None:
        rates, confidence = recipe.thresholds, confidence or recipe.confidence
    thresholds = Thresholds(
        rates=dict(rates),
        coverage=base.coverage,
        max_retried=base.max_retried,
        confidence=confidence,
    )
    if not effective_rates(thresholds, suite.kinds):
        kinds = ", ".join(f"{kind}: 95%" for kind in suite.kinds)
        raise UsageError(
            f"{release.path}: parity.pass: missing: no kind of {suite.name} has a threshold, so "
            f"no run could pass; write {{ {kinds} }}"
        )
    try:
        check_thresholds(thresholds, suite.kinds)
    except UsageError as error:
        raise UsageError(f"{release.path}: parity.pass: {error}") from None
    return thresholds


def _golden(release: Release, recipe: Recipe | None, data_folder: Path) -> KeptSuite | None:
    written = release.rollout.golden
    path = release.resolve(written) if written else (recipe.golden if recipe else None)
    return None if path is None else keep_suite(path, data_folder)


def _parity(release: Release, thresholds: Thresholds, *, max_tokens: int) -> dict[str, Any]:
    confidence = thresholds.confidence
    reference = release.parity.reference
    return {
        "pass": {kind.value: str(rate) for kind, rate in thresholds.rates.items()},
        "coverage": str(thresholds.coverage),
        "max-retried": str(thresholds.max_retried),
        "confidence": None if confidence is None else str(confidence),
        "repeats": release.parity.repeats,
        "max-tokens": max_tokens,
        "max-age": None if reference is None else reference.max_age,
    }


def _resolved(release: Release, *, cases: int) -> Rollout:
    """Fill in the defaults that depend on the suite, and make paths absolute."""
    rollout = release.rollout
    weights = rollout.weights
    if weights is not None and weights.file is not None:
        file = str(release.resolve(weights.file).absolute())
        weights = weights.model_copy(update={"file": file})
    return rollout.model_copy(
        update={
            "golden": None,
            "replicas": (),
            "parity_every": rollout.look_every_s,
            "look_cases": min(rollout.look_cases or LOOK_CASES, cases),
            "shards": rollout.shards or (SHARDS_OF_MANY if cases >= MANY_CASES else 1),
            "weights": weights,
        }
    )
