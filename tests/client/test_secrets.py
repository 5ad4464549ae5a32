"""Keys are read strictly; URLs are bases that end in /v1."""

from __future__ import annotations

import os

import pytest

from denv.client.secrets import check_url, read_key_env, read_key_file
from denv.errors import EndpointError, UsageError


def write(tmp_path, content: bytes, mode: int = 0o600):
    """Write a key file of a mode."""
    path = tmp_path / "key.txt"
    path.write_bytes(content)
    path.chmod(mode)
    return path


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_file_gives_its_key_without_blanks(tmp_path, mode):
    """Blanks and line ends around the key, and a byte order mark, are not part of it."""
    path = write(tmp_path, b"\xef\xbb\xbf  sk-123\r\n", mode)
    assert read_key_file(path).reveal() == "sk-123"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o700, 0o601])
def test_a_file_open_to_others_is_refused_with_the_command_that_closes_it(tmp_path, mode):
    """Any right beyond the owner's reading and writing is an error that says chmod 600."""
    with pytest.raises(UsageError, match="chmod 600"):
        read_key_file(write(tmp_path, b"sk-123", mode))


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"a\nb", b"a b", b"a\x00b", b"\xff\xfe", "ü".encode()]
)
def test_what_no_header_can_carry_is_refused_and_not_shown(tmp_path, content):
    """An empty key and one with a break or control character in it are errors."""
    with pytest.raises(UsageError) as caught:
        read_key_file(write(tmp_path, content))
    assert caught.value.exit_code == 2


def test_only_a_regular_file_is_read(tmp_path):
    """A folder, a missing file and a pipe (which would hang) are errors."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    for path in (tmp_path, tmp_path / "none", pipe):
        with pytest.raises(UsageError):
            read_key_file(path)


def test_a_key_of_the_environment(monkeypatch):
    """A set variable gives the key; a missing or empty one is an error that names it."""
    monkeypatch.setenv("SOME_KEY", " sk-1 ")
    assert read_key_env("SOME_KEY").reveal() == "sk-1"
    monkeypatch.setenv("SOME_KEY", "")
    for name in ("SOME_KEY", "NO_SUCH_KEY"):
        with pytest.raises(UsageError, match=name):
            read_key_env(name)


# ---------------------------------------------------------------- URLs


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        (" https://API.Example.com/v1/ ", "https://api.example.com/v1"),
        ("https://example.com/openai/v1//", "https://example.com/openai/v1"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
    ],
)
def test_a_base_is_given_without_its_last_slash(url, base):
    """Blanks and trailing slashes go, the host is lower case, the rest stays."""
    assert check_url(url) == base


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://example.com", "is https://example.com/v1 meant"),
        ("https://example.com/api/", "is https://example.com/api/v1 meant"),
        ("https://example.com/v1/chat/completions", "its base is https://example.com/v1"),
        ("https://example.com/v1/models/", "its base is https://example.com/v1"),
        ("example.com/v1", "starts with http"),
        ("localhost:8080/v1", "starts with http"),
        ("ftp://example.com/v1", "starts with http"),
        ("http:///v1", "names no host"),
        ("http://example.com:99999/v1", "not a URL"),
        ("http://example.com:0/v1", "names no host and port"),
        ("https://example.com/v1?key=hunter22", "no query"),
        ("https://example.com/v1#x", "no query or fragment"),
        ("https://me:hunter22@example.com/v1", "leave credentials out"),
        ("me:hunter22@example.com/v1?x", "starts with http"),
        ("http://exa mple.com/v1", "a space"),
        ("http://example.com/v1\nx", "a space"),
        ("", "starts with http"),
    ],
)
def test_what_is_no_base_is_an_error_that_says_so(url, said):
    """The message names the right base where it can be told, and no secret of the wrong one."""
    with pytest.raises(EndpointError, match=said) as caught:
        check_url(url)
    assert "hunter22" not in str(caught.value)
