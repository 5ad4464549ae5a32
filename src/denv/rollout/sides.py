"""The sides of a plan: where they are, and the names of their keys, which are read at use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from denv.client.secrets import origin, read_key_env, read_key_file
from denv.records import Endpoint, Json, Secret
from denv.release import Release, RolloutReplica, Router, SideSection, Stage


@dataclass(frozen=True, slots=True)
class KeyName:
    """Where a key is to be read: an environment variable or a file, never the key itself."""

    env: str | None = None
    file: str | None = None

    def read(self) -> Secret | None:
        """Read the key, None where none is named.

        Raises
        ------
        UsageError
            The variable is not set, or the file is missing or open to others.
        """
        if self.env is not None:
            return read_key_env(self.env)
        return None if self.file is None else read_key_file(Path(self.file))


NO_KEY = KeyName()


@dataclass(frozen=True, slots=True)
class PlannedSide:
    """One side of a plan; ``router`` says where the secret of a router at its URL lies."""

    url: str
    model: str | None = None
    key: KeyName = NO_KEY
    headers: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)
    router: KeyName | None = None

    @property
    def keys(self) -> tuple[KeyName, ...]:
        """All that is secret of this side, by name."""
        return (self.key,) if self.router is None else (self.key, self.router)

    def endpoint(self, *, name: str | None = None) -> Endpoint:
        """Build the endpoint; its key is read here and now.

        Raises
        ------
        UsageError
            The key cannot be read.
        """
        return Endpoint(
            url=self.url,
            model=self.model,
            key=self.key.read(),
            headers=self.headers,
            extra=self.extra,
            name=name,
        )


@dataclass(frozen=True, slots=True)
class PlannedReplica:
    """One server of the release, and the batch (from 1) from which on it is there."""

    name: str
    url: str
    batch: int = 1
    key: KeyName = NO_KEY


def side_of(release: Release, section: SideSection) -> PlannedSide:
    """Resolve one side of a release."""
    return PlannedSide(
        url=section.url,
        model=section.model,
        key=_key_of(release, section),
        headers=section.headers,
        extra=section.extra,
        router=_router_of(release, section.router) if isinstance(section, Stage) else None,
    )


def _router_of(release: Release, router: Router | None) -> KeyName | None:
    if router is None:
        return None
    file = router.permit_file
    return KeyName(
        env=router.permit_env, file=None if file is None else str(release.resolve(file).absolute())
    )


def replicas_of(release: Release, stage: PlannedSide) -> tuple[PlannedReplica, ...]:
    """Resolve the replicas; where none is named, the stage's own URL is the only one.

    A key reaches only the host it was given for: a replica elsewhere names its own.
    """
    named = release.rollout.replicas
    if not named:
        return (PlannedReplica(name="stage", url=stage.url, key=stage.key),)
    return tuple(_replica(release, stage, replica) for replica in named)


def _replica(release: Release, stage: PlannedSide, replica: RolloutReplica) -> PlannedReplica:
    key = _key_of(release, replica)
    if key == NO_KEY and origin(replica.url) == origin(stage.url):
        key = stage.key
    return PlannedReplica(name=replica.name, url=replica.url, batch=replica.batch, key=key)


def _key_of(release: Release, section: SideSection | RolloutReplica) -> KeyName:
    file = section.key_file
    return KeyName(
        env=section.key_env, file=None if file is None else str(release.resolve(file).absolute())
    )
