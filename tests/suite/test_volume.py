"""How much a run asks, before it is run."""

from denv.suite import volume_of
from tests import suites


def test_counts_requests_and_bounds_tokens(tmp_path):
    """Two repeats of 3 cases, one of them asked both ways, are 7 requests."""
    lines = [
        suites.line("a", "x" * 400, {"contains": "x"}),
        suites.line("b", "x", {"contains": "x"}, max_tokens=10),
        suites.line("c", "x", {"tool-call": {"name": "get_weather", "arguments": {}}},
                    tools=[suites.WEATHER]),
    ]  # fmt: skip
    volume = volume_of(suites.load(tmp_path, lines), max_tokens=100, repeats=2, twins=True)
    assert volume.requests == 2 + 2 + 3
    assert volume.most_completion_tokens == 2 * 100 + 2 * 10 + 3 * 100
    # 400 bytes of content are 100 tokens at 4 bytes each, twice, and the messages' own JSON
    assert 2 * 100 < volume.prompt_tokens < 2 * 100 + 7 * 100
