"""Permits: nothing but what was granted, by the right secret and in time, is accepted."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from denv.permits import LASTS_S, MOST_LASTS_S, Permit, PermitError, check, grant

SECRET = b"a secret of the router's that is long enough"
NOW = 1_790_000_000.25
NONCE = "n0nce-0123456789"


def granted(replica: str = "a", lasts_s: float = LASTS_S) -> str:
    return grant(SECRET, replica=replica, now=NOW, lasts_s=lasts_s, nonce=NONCE)


def signed(text: str) -> str:
    """Sign any text as a holder of the secret could."""
    return f"{text}:{hmac.new(SECRET, text.encode(), hashlib.sha256).hexdigest()}"


@given(
    st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9])?", fullmatch=True),
    st.from_regex(r"[A-Za-z0-9_-]{8,64}", fullmatch=True),
    st.floats(0.01, MOST_LASTS_S),
)
def test_what_is_granted_is_accepted(replica, nonce, lasts_s):
    """A permit gives back its replica, its end to the millisecond and its nonce."""
    token = grant(SECRET, replica=replica, now=NOW, lasts_s=lasts_s, nonce=nonce)
    permit = check(SECRET, token, now=NOW)
    assert (permit.replica, permit.nonce) == (replica, nonce)
    assert permit.expires == pytest.approx(NOW + lasts_s, abs=0.0011)
    assert token.isascii()
    assert token.isprintable()


@given(st.integers(0), st.characters())
def test_any_changed_character_is_refused(place, character):
    """No character of a permit can be another one."""
    token = granted("replica-7")
    at = place % len(token)
    assume(token[at] != character)
    with pytest.raises(PermitError):
        check(SECRET, token[:at] + character + token[at + 1 :], now=NOW)


@given(st.text())
def test_any_other_text_is_refused(text):
    """What was never granted is refused, whatever it is, with an error of one kind."""
    with pytest.raises(PermitError):
        check(SECRET, text, now=NOW)


@given(st.integers(0), st.integers(0, 3))
def test_a_cut_or_longer_permit_is_refused(place, more):
    """A permit is whole, and nothing follows it."""
    token = granted()
    for changed in (token[: place % len(token)], token + "\n" * (more + 1), token + token):
        with pytest.raises(PermitError):
            check(SECRET, changed, now=NOW)


def test_another_secret_is_refused():
    """A permit is good with the secret that signed it alone."""
    with pytest.raises(PermitError, match="not signed"):
        check(SECRET[::-1], granted(), now=NOW)


@pytest.mark.parametrize("late_s", [LASTS_S, LASTS_S + 0.001, 1e6])
def test_an_expired_permit_is_refused(late_s):
    """From its very end on a permit is none."""
    with pytest.raises(PermitError, match="expired"):
        check(SECRET, granted(), now=NOW + late_s)


def test_a_permit_holds_until_its_end():
    """Just before its end it is still good."""
    assert check(SECRET, granted(), now=NOW + LASTS_S - 0.002) == Permit("a", NOW + LASTS_S, NONCE)


def test_a_permit_that_lasts_too_long_is_refused():
    """A signed permit whose end is more than five minutes away is refused all the same."""
    end = int((NOW + MOST_LASTS_S) * 1000)
    assert check(SECRET, signed(f"dp1:a:{end}:{NONCE}"), now=NOW).replica == "a"
    with pytest.raises(PermitError, match="longer than 300 seconds"):
        check(SECRET, signed(f"dp1:a:{end + 1}:{NONCE}"), now=NOW)


@pytest.mark.parametrize(
    "text",
    [
        f"dp0:a:1790000060000:{NONCE}",
        f"dp1:a:01790000060000:{NONCE}",
        f"dp1:a:+1790000060000:{NONCE}",
        f"dp1:a:1790000060000.0:{NONCE}",
        f"dp1:a b:1790000060000:{NONCE}",
        f"dp1::1790000060000:{NONCE}",
        "dp1:a:1790000060000:short",
        f"dp1:a:1790000060000:{NONCE}:more",
        f"dp1:ä:1790000060000:{NONCE}",
        f"dp1:a:١790000060000:{NONCE}",
    ],
)
def test_only_one_way_of_writing_is_accepted(text):
    """Even signed, another version or another way to write the same is refused by its form."""
    with pytest.raises(PermitError, match="form"):
        check(SECRET, signed(text), now=NOW)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"replica": ""}, "name of a replica"),
        ({"replica": "a:b"}, "name of a replica"),
        ({"replica": "a\n"}, "name of a replica"),
        ({"nonce": "1234567"}, "nonce"),
        ({"nonce": "1234567:"}, "nonce"),
        ({"lasts_s": 0.0}, "lasts"),
        ({"lasts_s": MOST_LASTS_S + 0.1}, "lasts"),
        ({"lasts_s": float("nan")}, "lasts"),
    ],
)
def test_nothing_is_granted_that_would_be_refused(change, why):
    """Who grants learns at once what no router would accept."""
    given = {"replica": "a", "now": NOW, "nonce": NONCE} | change
    with pytest.raises(PermitError, match=why):
        grant(SECRET, **given)


@pytest.mark.parametrize("secret", [b"", b"31 bytes are not enough for it."])
def test_a_short_secret_is_no_secret(secret):
    """With a secret that can be guessed nothing is granted or accepted."""
    assert len(secret) < 32
    with pytest.raises(PermitError, match="fewer than 32 bytes"):
        grant(secret, replica="a", now=NOW, nonce=NONCE)
    with pytest.raises(PermitError, match="fewer than 32 bytes"):
        check(secret, granted(), now=NOW)


@pytest.mark.parametrize("now", [NOW, NOW + 1e6])
def test_no_error_shows_a_part_of_the_permit(now):
    """What is said of a refused permit holds nothing of it."""
    token = granted("replica-7")
    with pytest.raises(PermitError) as caught:
        check(SECRET[::-1] if now == NOW else SECRET, token, now=now)
    assert not any(part in str(caught.value) for part in token.split(":")[1:])
