"""What tests of the pages share: one furnished data folder, and the site over it for any caller."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from starlette.testclient import TestClient

from denv.serve.context import ServeContext
from denv.store import open_store
from tests.serve.pages.furnishing import NOW, furnish
from tests.serve.pages.keeping import several
from tests.serve.pages.showing import app_of
from tests.serve.pages.site import Someone, site_of


@dataclasses.dataclass
class Furnished:
    """A folder with something on every page, which is only read, and what its ids are."""

    context: ServeContext
    ids: dict[str, str]

    @property
    def paths(self) -> dict[str, str]:
        """Give a path of each kind of page."""
        ids = self.ids
        measures = ("gates", "tokens", "answers", "derivations", "all", "sentinel", "speed",
                    "stopped")  # fmt: skip
        return {
            "measures": "/measurements",
            "speeds": "/measurements?instrument=speed",
            **{name: f"/measurements/{ids[name]}" for name in measures},
            "rollouts": "/rollouts",
            "rollout": f"/rollouts/{ids['running']}",
            "failed": "/rollouts/code-r3-20261129-1815",
            "rollback": f"/rollouts/{ids['running']}/rollback",
            "alarms": "/alarms",
            "alarm": f"/alarms/{ids['alarm']}",
            "schedules": "/schedules",
            "schedule": "/schedules/nightly",
            "fresh": "/schedules/fresh",
            "resting": "/schedules/resting",
            "pause": "/schedules/nightly/pause",
            "suites": "/suites",
            "suite": f"/suites/{ids['suite']}",
            "published": "/published",
            "publication": f"/published/{ids['publication']}",
            "publish": f"/published/new?run={ids['run']}",
        }


@pytest.fixture(scope="package")
def furnished(tmp_path_factory: Any) -> Any:
    """Furnish a folder once."""
    folder = tmp_path_factory.mktemp("furnished")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DENV_DATABASE", raising=False)
        store = open_store(folder / "home")
        context = ServeContext(store, folder / "home", now=lambda: NOW)
        yield Furnished(context, furnish(store, folder))
        store.close()


@pytest.fixture
def asked() -> Any:
    """Give what asks the pages of some data as a caller of some role, who is led nowhere."""

    def asking(context: ServeContext, role: str = "run") -> TestClient:
        return TestClient(site_of(context, Someone(role)), follow_redirects=False)

    return asking


@pytest.fixture
def context(store: Any, tmp_path: Any) -> ServeContext:
    """Give an empty data folder that a test may write to."""
    return ServeContext(store, tmp_path / "home", now=lambda: NOW)


@pytest.fixture(scope="package")
def kept(tmp_path_factory: Any) -> Any:
    """Keep runs of every kind once, which tests only read; give their context and their names."""
    folder = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DENV_DATABASE", raising=False)
        store = open_store(folder)
        runs = several(store, folder)
        yield ServeContext(store, folder, now=lambda: NOW), runs
        store.close()


@pytest.fixture
def ask(kept: Any) -> TestClient:
    """Give what asks the pages of the runs that are kept."""
    return TestClient(app_of(kept[0], Someone()), follow_redirects=False)
