"""Health checks against real little servers; time is the tests' own."""

from __future__ import annotations

from aiohttp import web

from denv.release import Health
from denv.rollout.sides import PlannedReplica
from denv.rollout.steps.health import check_health, health_url, watch_health


class Time:
    """A clock that only sleeping moves on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def clock(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


def answering(*statuses, path="/health"):
    """Make an application that gives these statuses in turn, and the last one from then on."""
    left = list(statuses)

    async def handler(request):
        status = left.pop(0) if len(left) > 1 else left[0]
        return web.Response(status=status, text="what a body says is a secret")

    app = web.Application()
    app.router.add_get(path, handler)
    return app


async def checked(web_server, app, **settings):
    replica = PlannedReplica("a", await web_server(app) + "/api/v1")
    time = Time()
    outcome = await check_health(
        replica, Health.model_validate(settings), clock=time.clock, sleep=time.sleep
    )
    return outcome, time.now - 1000


async def test_passes_in_a_row(web_server):
    """A failure in between begins the count anew: 2 passes, a failure, 3 passes are 6 probes."""
    outcome, took_s = await checked(web_server, answering(200, 200, 503, 200))
    assert (outcome.healthy, outcome.probes, outcome.saw) == (True, 6, "status 200")
    assert took_s == 10  # five pauses of 2 s


async def test_too_late(web_server):
    """A replica that is not healthy in time is said to be so with what was seen last."""
    outcome, took_s = await checked(web_server, answering(503), timeout="10s")
    assert not outcome.healthy
    assert outcome.probes == 5  # at 0, 2, 4, 6 and 8 s
    assert took_s == 8
    assert "status 503, expected 200" in outcome.saw
    assert "secret" not in outcome.saw


async def test_expected_status_and_path(web_server):
    """The path is taken from the host's root, and another status may be the healthy one."""
    app = answering(204, path="/ready")
    outcome, _ = await checked(web_server, app, path="/ready", status=204, passes=1)
    assert outcome.healthy
    assert health_url("https://h:8/a/v1", "/x?full=1") == "https://h:8/x?full=1"


async def test_a_redirect_is_not_followed(web_server):
    """A redirect is a status like another: nothing is asked elsewhere."""
    app = web.Application()

    async def elsewhere(request):
        raise web.HTTPFound("/fine")

    async def fine(request):
        return web.Response()

    app.router.add_get("/health", elsewhere)
    app.router.add_get("/fine", fine)
    outcome, _ = await checked(web_server, app, timeout="10s")
    assert "302" in outcome.saw


async def test_nobody_listens():
    """A replica that is not there is unhealthy, and the fault is named."""
    time = Time()
    replica = PlannedReplica("a", "http://127.0.0.1:1/v1")
    health = Health.model_validate({"timeout": "8s"})
    outcome = await check_health(replica, health, clock=time.clock, sleep=time.sleep)
    assert not outcome.healthy
    assert "127.0.0.1" in outcome.saw or "refused" in outcome.saw


async def watched(web_server, app, *, seconds, on_observed=None, time=None, **settings):
    replica = PlannedReplica("a", await web_server(app) + "/v1")
    time = time or Time()
    return await watch_health(
        [replica],
        Health.model_validate(settings),
        seconds=seconds,
        on_observed=on_observed,
        clock=time.clock,
        sleep=time.sleep,
    )


async def test_watching_ends_when_it_has_seen_enough(web_server):
    """A minute is watched in steps of 2 s, and the sum is told as it grows."""
    told: list[float] = []
    outcome = await watched(web_server, answering(200), seconds=60, on_observed=told.append)
    assert (outcome.observed_s, outcome.unhealthy) == (60, None)
    assert told[:3] == [0, 2, 4]
    assert told[-1] == 60


async def test_single_failures_are_borne(web_server):
    """Fewer failures in a row than passes are asked for end nothing."""
    outcome = await watched(web_server, answering(503, 503, 200), seconds=10)
    assert outcome.unhealthy is None


async def test_failures_in_a_row_end_the_watch(web_server):
    """Three failures in a row are unhealthy: the third comes 4 s after the first."""
    outcome = await watched(web_server, answering(200, 503), seconds=600)
    assert outcome.unhealthy == "a: 3 times in a row: status 503, expected 200"
    assert outcome.observed_s == 4  # rounds at 0, 2 and 4 s were counted, not the last


async def test_a_watch_does_not_end_amid_failures(web_server):
    """When the time is over and the last answer was a failure, it is asked until that is clear."""
    outcome = await watched(web_server, answering(200, 200, 503), seconds=4)
    assert outcome.unhealthy is not None


async def test_time_in_which_nobody_looked_is_not_observed(web_server):
    """A pause of an hour counts for no more than one interval and one probe: 12 s."""

    class Suspended(Time):
        async def sleep(self, seconds):
            self.now += 3600

    told: list[float] = []
    await watched(web_server, answering(200), seconds=24, on_observed=told.append, time=Suspended())
    assert told == [0, 12, 24]


async def test_what_is_seen_beside_ends_the_watch(web_server):
    """Something else that is wrong ends it, and the round in which that was seen is not counted."""
    said = ["", "", "the file is gone"]

    async def beside():
        return said.pop(0)

    replica, time = PlannedReplica("a", await web_server(answering(200)) + "/v1"), Time()
    outcome = await watch_health(
        [replica],
        Health.model_validate({}),
        seconds=600,
        beside=beside,
        clock=time.clock,
        sleep=time.sleep,
    )
    assert (outcome.observed_s, outcome.changed) == (2, "the file is gone")  # rounds at 0 and 2 s
