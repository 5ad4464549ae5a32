"""``--private``, ``--shapes``, ``--pace``, permits and ``suite vary`` on the command line."""

from __future__ import annotations

import json

import pytest

from denv.suite import load_suite
from tests import suites
from tests.stubs import StubServer, answers
from tests.stubs.permitting import SECRET, passing_on


@pytest.fixture
def suite(tmp_path):
    return suites.write(tmp_path, suites.numbered(40))


@pytest.fixture
def private(tmp_path):
    lines = [{**each, "id": f"hidden-{n}"} for n, each in enumerate(suites.numbered(80)[40:52])]
    return suites.write(tmp_path, lines, "private.jsonl")


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "permits.key"
    path.write_text(SECRET)
    path.chmod(0o600)
    return path


def knowing(most):
    """Answer rightly what has a number below this, and nothing else."""

    def handler(request, n):
        text = request["messages"][-1]["content"]
        known = text == "Hello" or int(text.split()[1].rstrip(";")) < most
        return answers.completion(text if known else "no")

    return handler


async def test_a_cheating_stage_fails(denv, suite, private):
    """With a private part a stage that knows the suite's cases alone is exit 1, and named so."""
    async with StubServer(knowing(40)) as stage, StubServer() as reference:
        ended = await denv(
            *("parity", "run", "--suite", suite, "--private", private, "--json", "-", "--quiet"),
            *("--stage", stage.url, "--reference", reference.url),
        )
    assert ended.code == 1, ended.err
    report = json.loads(ended.out)
    assert report["gaming"]["verdict"] == "found"
    assert "parity-gaming: the stage does better on public cases" in ended.err
    assert "hidden-" not in ended.out + ended.err


async def test_shapes_are_kept_with_the_run(denv, suite, private, tmp_path):
    """A run is continued with the shapes that it began with, whatever the file holds by then."""
    cell = {"stream": False, "max_tokens": "64", "count": 20}
    shapes = tmp_path / "shapes.json"
    shapes.write_text(json.dumps({"schema": "denv.shapes/1", "cells": [cell]}))
    async with StubServer() as stage, StubServer() as reference:
        ended = await denv(
            *("parity", "run", "--suite", suite, "--private", private, "--shapes", shapes),
            *("--stage", stage.url, "--reference", reference.url, "--json", "-", "--quiet"),
        )
        assert ended.code == 0, ended.err
        shapes.unlink()
        again = await denv("parity", "run", "--resume", json.loads(ended.out)["run"], "--quiet")
        assert again.code == 0, again.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--shapes", "s.json"], "--shapes needs --private"),
        (["--private", "{suite}"], "the private part is the suite itself"),
        (["--private", "{private}", "--shapes", "{suite}"], "no table of shapes"),
        (["--private", "{private}", "--shapes", "http://127.0.0.1:9/shapes"], "cannot be asked"),
        (["--private", "/nowhere.jsonl"], "/nowhere.jsonl"),
        (["--pace", "interleaved"], "--pace interleaved needs --rate"),
        (["--stage-permit-file", "{secret}"], "need --stage-replica NAME"),
        (
            ["--stage-permit-file", "{secret}", "--stage-replica", "a=http://127.0.0.1:9/v1"],
            "with permits it is the name of a replica at the router alone",
        ),
        (
            ["--stage-permit-file", "{secret}", *(2 * ["--stage-replica", "a"])],
            "the name a stands for two",
        ),
        (
            ["--stage-permit-file", "{secret}", "--stage-permit-env", "X", "--stage-replica", "a"],
            "exclude each other",
        ),
        (["--stage-permit-file", "{short}", "--stage-replica", "a"], "fewer than 32 bytes"),
    ],
)
async def test_what_does_not_fit(denv, tmp_path, suite, private, options, said):  # noqa: PLR0917
    """Options that do not go together, or files that are wrong, are exit 2 in one line."""
    files = {"suite": suite, "private": private}
    for name, text in (("secret", SECRET), ("short", "too-short")):
        files[name] = tmp_path / name
        files[name].write_text(text)
        files[name].chmod(0o600)
    given = [each.format(**files) for each in options]
    sides = ("--stage", "http://127.0.0.1:9/v1", "--reference", "http://127.0.0.1:9/v1")
    ended = await denv("parity", "run", "--suite", suite, *sides, *given)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.lines) == 1
    assert SECRET not in ended.err


async def test_a_run_through_a_router(denv, serve, suite, secret):
    """With permits a replica's name is enough, and a resumed run signs its own anew."""
    a, b, reference = await serve(), await serve(), await serve()
    router = await serve(passing_on({"a": a, "b": b}))
    ended = await denv(
        *("parity", "run", "--suite", suite, "--json", "-", "--quiet"),
        *("--stage", router.url, "--stage-model", "m", "--stage-permit-file", secret),
        *("--stage-replica", "a", "--stage-replica", "b", "--reference", reference.url),
        *("--rate", "2000/s", "--pace", "interleaved"),
    )
    assert ended.code == 0, ended.err
    report = json.loads(ended.out)
    assert report["path"] == "router"
    assert [case["stage"]["replica"] for case in report["cases"]] == ["a", "b"] * 20
    assert SECRET not in ended.out + ended.err
    again = await denv("parity", "run", "--resume", report["run"], "--quiet")
    assert again.code == 0, again.err


async def test_a_release_behind_a_router(denv, serve, suite, secret, tmp_path):
    """A release that names its router is run through it, over the replicas that it names."""
    a, reference = await serve(), await serve()
    router = await serve(passing_on({"r8-a": a}))
    release = tmp_path / "release.yaml"
    release.write_text(
        f"release: r8\nstage: {{url: '{router.url}', model: m, router:"
        f" {{permit-file: {secret.name}}}}}\n"
        f"parity: {{reference: {{url: '{reference.url}', model: m}}, suite: {suite}}}\n"
        f"rollout: {{replicas: [{{name: r8-a, url: '{a.url}'}}]}}\n"
    )
    ended = await denv("parity", "run", "--release", release, "--json", "-", "--quiet")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["path"] == "router"
    assert len(a.seen) == 41


async def test_vary_makes_a_private_part(denv, tmp_path):
    """The same seed gives the same cases, another one others; none is of the public suite."""
    made = {}
    for name, seed in (("one", "s" * 20), ("again", "s" * 20), ("other", "t" * 20)):
        file = tmp_path / f"{name}.seed"
        file.write_text(seed)
        file.chmod(0o600)
        out = tmp_path / f"{name}.jsonl"
        ended = await denv(
            "suite", "vary", "--recipe", "generic", "--seed-file", file, "--out", out
        )
        assert ended.code == 0, ended.err
        assert out.stat().st_mode & 0o777 == 0o600
        made[name] = out.read_text("utf-8")
    assert made["one"] == made["again"] != made["other"]
    suite = load_suite(tmp_path / "one.jsonl")
    assert suite.tags["generated"] == suite.cases
    assert any(tag.startswith("family:") for tag in suite.tags)


@pytest.mark.parametrize(
    ("seed", "mode", "said"),
    [("short", 0o600, "at least 16 characters"), ("s" * 20, 0o644, "open to others")],
)
async def test_a_seed_that_is_none(denv, tmp_path, seed, mode, said):
    """A seed that can be guessed or read by others is refused, and nothing is written."""
    file, out = tmp_path / "seed", tmp_path / "p.jsonl"
    file.write_text(seed)
    file.chmod(mode)
    ended = await denv("suite", "vary", "--recipe", "generic", "--seed-file", file, "--out", out)
    assert ended.code == 2
    assert said in ended.err
    assert not out.exists()
