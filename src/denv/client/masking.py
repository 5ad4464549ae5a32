"""Keep an endpoint's secrets out of everything that is kept or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from denv.client.spellings import Spellings
from denv.records import Exchange, Secret

MASK = "***"
MIN_SECRET = 8
"""Shorter keys (``EMPTY``, ``none``) are placeholders; cutting them would change answers."""

_MASK = MASK.encode()
_USERINFO = re.compile(r"(?<=://)[^/\s?#]*@")
_BEARER = re.compile(r"(?i)\b(bearer\s+)(?=\S*\d)[\w.~+/=-]{8,}")
_BEARER_BYTES = re.compile(_BEARER.pattern.encode(), _BEARER.flags & ~re.UNICODE)
_USERINFO_BYTES = re.compile(_USERINFO.pattern.encode())
_ERROR = 400


def mask(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Cut known secrets, bearer tokens and the credentials of URLs out of a line."""
    return _masked(text, [Spellings(secret.reveal()) for secret in secrets])


class Masker:
    """Cuts an endpoint's secrets out of its exchanges before anything can keep them."""

    def __init__(self, secrets: Iterable[Secret]) -> None:
        values = {value for s in secrets if len(value := s.reveal()) >= MIN_SECRET}
        # The longest first: one may be a part of another.
        self._spellings = [Spellings(v) for v in sorted(values, key=lambda v: (-len(v), v))]

    def text(self, text: str) -> str:
        """Cut secrets out of a line that is shown."""
        return _masked(text, self._spellings)

    def exchange(self, exchange: Exchange) -> Exchange:
        """Give the exchange without the secrets; the same object where it holds none."""
        headers, fault = exchange.headers, exchange.fault
        body = _without_credentials(exchange)
        if fault is None and body is exchange.body and not self._may_be_in(exchange):
            return exchange
        for spellings in self._spellings:
            body = spellings.cut(body, _MASK)
            if fault is not None:
                body = spellings.cut_end(body, _MASK)
        cut = tuple((name, self._cut(value)) for name, value in headers)
        headers = headers if cut == headers else cut
        if fault is not None:
            fault = replace(fault, message=self.text(fault.message))
        elif body is exchange.body and headers is exchange.headers:
            return exchange
        return replace(exchange, body=body, headers=headers, fault=fault)

    def _may_be_in(self, exchange: Exchange) -> bool:
        if not self._spellings:
            return False
        # Body and headers in one: most answers hold nothing, and each look has its price.
        values = "\n".join([value for _, value in exchange.headers])
        raw = exchange.body + b"\n" + values.encode("utf-8", "surrogatepass")
        for spellings in self._spellings:  # noqa: SIM110 - three times as quick as any()
            if spellings.may_hold(raw):
                return True
        return False

    def _cut(self, value: str) -> str:
        return _cut(value, self._spellings)


def _without_credentials(exchange: Exchange) -> bytes:
    """Give the body; where it tells an error, without anybody's bearer tokens and credentials.

    Servers and gateways quote what they were sent, or what they sent on. The text of a model is
    left as it is: a case may ask for just that.
    """
    body = exchange.body
    if exchange.status is not None and exchange.status >= _ERROR:
        return _cut_credentials(body)
    if b'"error"' not in body:
        return body
    if not exchange.streamed:
        return body if b'"choices"' in body else _cut_credentials(body)
    events = body.split(b"\n")
    cut = [e if b'"choices"' in e or b'"error"' not in e else _cut_credentials(e) for e in events]
    return body if cut == events else b"\n".join(cut)


def _cut_credentials(body: bytes) -> bytes:
    cut = _USERINFO_BYTES.sub(_MASK + b"@", body)
    cut = _BEARER_BYTES.sub(rb"\g<1>" + _MASK, cut)
    return body if cut == body else cut


def _masked(text: str, spellings: Iterable[Spellings]) -> str:
    return _BEARER.sub(rf"\g<1>{MASK}", _USERINFO.sub(f"{MASK}@", _cut(text, spellings)))


def _cut(text: str, spellings: Iterable[Spellings]) -> str:
    raw = encoded = text.encode("utf-8", "surrogatepass")
    for one in spellings:
        raw = one.cut(raw, _MASK)
    return text if raw is encoded else raw.decode("utf-8", "surrogatepass")
