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
        if fault is None and not self._may_be_in(exchange):
            return exchange
        body = exchange.body
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


def _masked(text: str, spellings: Iterable[Spellings]) -> str:
    return _BEARER.sub(rf"\g<1>{MASK}", _USERINFO.sub(f"{MASK}@", _cut(text, spellings)))


def _cut(text: str, spellings: Iterable[Spellings]) -> str:
    raw = encoded = text.encode("utf-8", "surrogatepass")
    for one in spellings:
        raw = one.cut(raw, _MASK)
    return text if raw is encoded else raw.decode("utf-8", "surrogatepass")
