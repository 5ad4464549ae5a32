"""What this machine and the environment put in the way: variables, proxies, limits, children."""

from __future__ import annotations

import os
import resource
from collections.abc import Collection, Iterator
from contextlib import closing
from difflib import get_close_matches

from yarl import URL

from denv.client.http import proxy_for
from denv.client.masking import mask
from denv.doctor.finding import Finding, fault, note, ok, warning
from denv.errors import UsageError
from denv.runner.searching import QUICK_LENGTH, KillableSearch

VARIABLES = ("DENV_DATABASE", "DENV_HEARTBEAT_S", "DENV_HOME")
"""All that denv itself reads of its own name."""

TESTS = frozenset({"DENV_ALL_TESTS", "DENV_VLLM"})
"""What the project's own tests read: known, and without effect here."""

LOOPBACK = ("127.0.0.1", "localhost")
FILES_BESIDE = 64
"""Open files that are no connections: the database, logs, libraries, pipes of children."""

SPARE = 4
"""Connections of each side beside those of its requests; see the client's pool."""


def examine_machine(*, concurrency: int, named: Collection[str] = ()) -> Iterator[Finding]:
    """Look at the environment; ``named`` are variables that a release takes its keys from."""
    yield from _variables(named)
    yield from _proxies()
    yield _open_files(concurrency)
    yield _worker()


def _variables(named: Collection[str]) -> Iterator[Finding]:
    given = sorted(name for name in os.environ if name.startswith("DENV_"))
    unknown = [name for name in given if name not in {*VARIABLES, *TESTS, *named}]
    for name in unknown:
        near = get_close_matches(name, VARIABLES, n=1)
        if near:
            advice = f"did you mean {near[0]}?"
            yield warning("variables", f"${name} is set, and denv reads no such variable", advice)
        else:
            advice = f"denv itself reads {', '.join(VARIABLES)}"
            yield note("variables", f"${name} is set, and denv reads no such variable", advice)
    if not unknown:
        known = [name for name in given if name in VARIABLES]
        yield ok("variables", f"set: {', '.join(known)}" if known else "none of denv's is set")


def _proxies() -> Iterator[Finding]:
    caught = []
    for scheme in ("http", "https"):
        for host in LOOPBACK:
            try:
                proxy = proxy_for(URL(f"{scheme}://{host}"))
            except UsageError as error:
                yield fault("proxies", str(error), "unset ALL_PROXY, or name an HTTP proxy in it")
                return
            if proxy is not None:
                caught.append(f"{scheme}://{host} to {mask(str(proxy))}")
    if caught:
        advice = f"export NO_PROXY={','.join(LOOPBACK)}"
        yield warning("proxies", f"requests would go from {'; '.join(caught)}", advice)
    else:
        yield ok("proxies", "none catches requests to this machine itself")


def _open_files(concurrency: int) -> Finding:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * (concurrency + SPARE) + FILES_BESIDE
    told = "without limit" if soft == resource.RLIM_INFINITY else str(soft)
    text = f"{told} may be open at once; {concurrency} requests a side take up to {needed}"
    if soft != resource.RLIM_INFINITY and soft < needed:
        return warning("open files", text, f"ulimit -n {needed}, or a lower --concurrency")
    return ok("open files", text)


def _worker() -> Finding:
    """Have a real search carried out by a child, as a slow pattern of a suite is."""
    with closing(KillableSearch()) as search:
        try:
            found = search("needle$", "-" * QUICK_LENGTH + "needle")
        except (TimeoutError, OSError) as error:
            advice = "see that this user may start processes, and that Python runs by itself"
            return fault("regex worker", f"no search in a child process: {error}", advice)
    if not found:
        return fault("regex worker", "a search gave a wrong answer", "install denv anew")
    return ok("regex worker", "a child process searches, and can be killed")
