"""Secrets are cut out of all that a server answers, however it writes them."""

from __future__ import annotations

import base64
import html
import json
import time
from html.entities import html5
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denv.client import Masker, mask
from denv.records import Exchange, Fault, FaultKind, Secret

KEY = "sk-Abc/123+xyz_789"
MARKS = "sk-Ab/Cd+Ef=Gh&Ij<Kl>Mn'Op\"Qr_0123"
NAMES = {meant: name for name, meant in html5.items() if name.endswith(";")}


def cut(key: str, body: bytes) -> bytes:
    """Mask a body."""
    return Masker([Secret(key)]).exchange(Exchange(status=200, body=body)).body


def escapes(character: str) -> list[str]:
    """Give what encoders of JSON, scripts, HTML and URLs write for a character."""
    code = ord(character)
    written = [
        character,
        f"\\u{code:04x}",
        f"\\u{code:04X}",
        f"\\\\u{code:04X}",
        f"\\x{code:02x}",
        f"%{code:02x}",
        f"%{code:02X}",
        f"%25{code:02X}",
        f"&#{code};",
        f"&#0{code};",
        f"&#x{code:x};",
        f"&#X{code:X};",
        f"&amp;#{code};",
    ]
    if character in NAMES:
        written += [f"&{NAMES[character]}", f"&amp;{NAMES[character]}"]
    if character in "/\"'":
        written += ["\\" + character, "\\\\" + character]
    return written


AGAIN = {
    "once": lambda text: text,
    "JSON": lambda text: json.dumps(text)[1:-1],
    "HTML": html.escape,
    "URL": lambda text: quote(text, safe=""),
    "script-safe JSON": lambda text: (
        json.dumps(text)[1:-1].replace("&", "\\u0026").replace("+", "\\u002B")
    ),
}


@st.composite
def spelled(draw):
    """Give a key and a way to write it, each character by an encoder of its own."""
    letters = st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="\\%&")
    key = draw(st.text(letters, min_size=8, max_size=24))
    text = "".join(draw(st.sampled_from(escapes(character))) for character in key)
    return key, AGAIN[draw(st.sampled_from(sorted(AGAIN)))](text)


@given(spelled())
def test_a_key_is_cut_whichever_of_its_characters_are_escaped(drawn):
    """Every character may be written by another encoder, and the whole be encoded once more."""
    key, text = drawn
    assert cut(key, f'{{"error": "<{text}>"}}'.encode()) == b'{"error": "<***>"}'


@pytest.mark.parametrize("again", AGAIN)
@pytest.mark.parametrize(
    "key",
    [
        MARKS,
        "C:\\\\share\\key\\\\0123",
        "100%&more%&amp;0123",
        "sv=2022&sig=ab%2Bcd%2Fef%3D",
        "schlüssel-𝄞-0123",
    ],
)
def test_a_key_of_marks_is_cut_after_every_encoder(key, again):
    """The characters that encoders escape, and their own signs, may all stand in a key."""
    writers = (str, lambda t: json.dumps(t)[1:-1], html.escape, lambda t: quote(t, safe=""))
    for write in writers:
        body = f"<{AGAIN[again](write(key))}>".encode()
        assert cut(key, body) == b"<***>", body


@pytest.mark.parametrize(
    "text",
    [
        "sk-Ab\\/Cd\\u002BEf\\u003dGh\\u0026Ij\\u003CKl\\u003eMn\\u0027Op\\u0022Qr_0123",
        "sk-Ab&#x2F;Cd&plus;Ef&equals;Gh&amp;Ij&lt;Kl&gt;Mn&#39;Op&quot;Qr_0123",
        "%73k-Ab%2fCd%2BEf%3DGh%26Ij%3CKl%3eMn%27Op%22Qr%5F0123",
        MARKS.encode().hex(),
        MARKS.encode().hex().upper(),
        "".join(f"\\x{byte:02x}" for byte in MARKS.encode()),
    ],
)
def test_forms_of_common_frameworks(text):
    """What ASP.NET, Gson, HTML templates and URL encoders make of one key, and its hex form."""
    assert cut(MARKS, f'{{"m":"key {text}, wrong"}}'.encode()) == b'{"m":"key ***, wrong"}'
    assert mask(f"key {text}", [Secret(MARKS)]) == "key ***"


def test_base64_whose_signs_are_escaped_is_cut():
    """A plus or slash of base64 is escaped like that of a key."""
    key = "key~?>~?>~?>0123"
    plain = base64.b64encode(key.encode()).decode()
    assert "/" in plain or "+" in plain
    for text in (plain, plain.replace("/", "\\/").replace("+", "\\u002b"), quote(plain, safe="")):
        assert b"***" in cut(key, text.encode())
        assert len(cut(key, text.encode())) < 12


def test_a_masked_body_is_still_json():
    """Cutting takes whole escapes: what is left of a JSON body can be read."""
    for spaced in ("\n", "\\", '"', "\t"):
        text = json.dumps({"message": f"{spaced}{MARKS}{spaced}"}).replace("/", "\\/")
        assert "***" in json.loads(cut(MARKS, text.encode()))["message"]


@pytest.mark.parametrize(
    "text",
    [
        b'{"text":"a\\nb \\"c\\" 100 % R&D \\u00e9 \\u4f60 &amp; &lt; %2F \\/ sk-Ab"}',
        b"sk-Ab/Cd+Ef=Gh&amp;Ij",
        MARKS.lower().encode(),
    ],
)
def test_what_is_not_the_key_stays(text):
    """Escapes of an answer that holds no key, or the start of one alone, are left as they are."""
    exchange = Exchange(status=200, headers=(("x", "a%2Fb&amp;"),), body=text)
    assert Masker([Secret(MARKS)]).exchange(exchange) is exchange


def test_what_is_cut_short_keeps_no_start_of_a_key():
    """Where reading stopped in the middle of a key, its start is cut as well."""
    for fault in (Fault(FaultKind.CUT, "cut"), Fault(FaultKind.TOO_LARGE, "large")):
        exchange = Exchange(status=200, body=b"bad key " + KEY[:-1].encode(), fault=fault)
        assert Masker([Secret(KEY)]).exchange(exchange).body == b"bad key ***"


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("\\" * 12 + "x", b"\\"),
        ("a\\/" * 6, b"a\\\\/"),
        ("%25" * 8 + "x", b"%25"),
        ("&amp;" * 6 + "x", b"&amp;"),
        (";" * 20 + "x", b"&#59;;"),
        ("&;" * 12 + "x", b"&amp;;"),
        ("a" * 40 + "b", b"a"),
        ("a" * 40 + "b", b"\\u0061"),
        ("0" * 40 + "1", b"&#0000048;"),
        (MARKS, b"sk-Ab%2FCd%2BEf"),
        (MARKS, b"&amp;amp;amp;#x0000"),
    ],
)
def test_masking_takes_linear_time(key, unit):
    """No answer, however near to the key it comes again and again, holds the run up."""
    body = unit * (100_000 // len(unit))
    started = time.perf_counter()
    cut(key, body)
    assert time.perf_counter() - started < 3


def test_a_line_is_masked_in_all_the_forms_that_a_server_may_echo():
    """The key itself, bearer tokens and the credentials of URLs are cut out."""
    line = f"key {KEY}, Bearer abcdef123456, http://me:pw@host/v1, {quote(KEY, safe='')}"
    assert mask(line, [Secret(KEY)]) == "key ***, Bearer ***, http://***@host/v1, ***"
    assert mask("Missing bearer authentication") == "Missing bearer authentication"


@given(
    st.binary(max_size=9).filter(lambda b: KEY.encode() not in b),
    st.text("abcdefghijklmnopqrstuvwxyz0123456789-_/+.", min_size=12, max_size=40),
)
def test_a_key_inside_base64_is_cut_wherever_it_stands(before, key):
    """Basic credentials hold the key at any of three offsets; none of them leaves it readable."""
    text = base64.b64encode(before + key.encode() + b"!")
    cut = Masker([Secret(key)]).exchange(Exchange(status=200, body=text)).body
    assert b"***" in cut
    assert len(cut) < 16 + 4 * len(before)


def test_an_exchange_loses_the_key_everywhere_and_else_stays_the_same_object():
    """Headers, body and the fault's line are masked; an exchange without the key is untouched."""
    masker = Masker([Secret(KEY)])
    given_back = masker.exchange(
        Exchange(
            status=401,
            headers=(("x-echo", f"Bearer {KEY}"),),
            body=f'{{"error": "{KEY}", "url": "{quote(KEY, safe="")}"}}'.encode(),
            fault=Fault(FaultKind.CUT, f"cut at {KEY}"),
        )
    )
    assert KEY not in repr(given_back)
    assert given_back.body == b'{"error": "***", "url": "***"}'
    clean = Exchange(status=200, headers=(("a", "b"),), body=b"{}")
    assert masker.exchange(clean) is clean


def test_a_placeholder_key_does_not_change_answers():
    """Keys such as EMPTY are no secrets: the word may stand in an answer."""
    exchange = Exchange(status=200, body=b"The list is EMPTY.")
    assert Masker([Secret("EMPTY")]).exchange(exchange) is exchange


FOREIGN = b'{"error": {"message": "upstream said no to Bearer tok-12345678 at http://u:pw@db/x"}}'
CUT = b'{"error": {"message": "upstream said no to Bearer *** at http://***@db/x"}}'


@pytest.mark.parametrize("status", [200, 401, 500])
def test_credentials_of_others_are_cut_out_of_errors(status):
    """A gateway's own tokens, which nobody here knows, stand nowhere in a kept error."""
    exchange = Exchange(status=status, body=FOREIGN)
    assert Masker([]).exchange(exchange).body == CUT


def test_credentials_of_others_are_cut_out_of_a_stream_s_error():
    """Only the event that tells the error is changed."""
    text = b'data: {"choices": [{"delta": {"content": "Bearer tok-12345678"}}]}'
    body = text + b"\n\ndata: " + FOREIGN + b"\n\n"
    kept = Masker([]).exchange(Exchange(status=200, body=body, streamed=True)).body
    assert kept == text + b"\n\ndata: " + CUT + b"\n\n"


def test_an_answer_s_own_text_is_left_as_it_is():
    """A case may ask how a header looks; its answer is no error."""
    body = b'{"choices": [{"message": {"content": "Bearer tok-12345678, \\"error\\""}}]}'
    exchange = Exchange(status=200, body=body)
    assert Masker([]).exchange(exchange) is exchange
