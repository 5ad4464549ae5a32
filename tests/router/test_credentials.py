from __future__ import annotations

import pytest

from denv.router.credentials import parse_host


@pytest.mark.parametrize(
    ("rule", "url", "matches"),
    [
        ("http://10.0.0.8:8000", "http://10.0.0.8:8000/v1", True),
        ("http://10.0.0.8:8000", "http://10.0.0.8:8001/v1", False),
        ("http://10.0.0.8:8000", "https://10.0.0.8:8000/v1", False),
        ("https://api.example.com", "https://api.example.com/v1", True),
        ("https://api.example.com", "https://api.example.com:443/v1", True),
        ("https://api.example.com", "https://api.example.com.evil.example/v1", False),
        ("https://*.example.com", "https://a.b.example.com/v1", True),
        ("https://*.example.com", "https://example.com/v1", False),
        ("https://*.example.com", "https://evilexample.com/v1", False),
        ("https://*.example.com", "https://evil.example/?.example.com", False),
        ("http://10.0.0.0/24:8000", "http://10.0.0.77:8000/v1", True),
        ("http://10.0.0.0/24:8000", "http://10.0.1.77:8000/v1", False),
        ("http://10.0.0.0/24:8000", "http://10.0.0.evil.example:8000/v1", False),
        ("http://[fd00::/64]:80", "http://[fd00::1]/v1", True),
        ("http://[::1]:8000", "http://[::1]:8000/v1", True),
    ],
)
def test_a_key_reaches_only_its_hosts(rule, url, matches):
    """Scheme, port and host must all be those that the key was given for."""
    assert parse_host(rule).matches(url) is matches


@pytest.mark.parametrize(
    "rule",
    [
        "10.0.0.8",
        "ftp://a",
        "http://",
        "http://a/b",
        "http://a*.b",
        "http://*",
        "http://u@h",
        "http://a:",
        "http://a:b",
        "http://a:²",
        "http://a:65536",
        "http://a?b",
        "http://[]:1",
    ],
)
def test_refuses_what_is_no_rule(rule):
    """What could match more than was meant is refused."""
    with pytest.raises(ValueError, match=r"must|can only|is no"):
        parse_host(rule)
