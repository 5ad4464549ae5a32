"""What may not stand in a public report, cut out of the texts that do.

A public report is built from an allow-list of fields. Some of these are sentences that may quote a
server or a proxy, which may name hosts, addresses and keys: those are cut by rule. Hosts and
addresses of the run itself are known, and are cut out of every text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

URL, ADDRESS, HOST, FILE, KEY, MAIL = "[url]", "[address]", "[host]", "[path]", "[key]", "[mail]"

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_ENDINGS = (
    "ai app arpa biz cc ch cloud cn co com corp de dev edu eu example fr gov home in info int "
    "internal intra intranet invalid io jp lan local localdomain localhost me net nl org prod ru "
    "sh site so svc tech test tv uk us xyz"
).replace(" ", "|")
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>\\^`{|}]+", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^/\s?#@]*@")
_MAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SCHEME = re.compile(r"\b((?:bearer|basic)\s+)[\w.~+/=-]{8,}", re.IGNORECASE)
_SCHEME_SURE = re.compile(r"\b((?:bearer|basic)\s+)(?=\S*\d)[\w.~+/=-]{8,}", re.IGNORECASE)
_NAMED = re.compile(
    r"((?:api[_-]?key|access[_-]?key|auth[_-]?token|token|secret|passw(?:or)?d|authorization)"
    r"[\"']?\s*[:=]\s*[\"']?)(?!bearer|basic)[^\s\"',;&]{4,}",
    re.IGNORECASE,
)
_PREFIXED = re.compile(r"\b(?:sk|pk|rk|hf|gsk|xai|ghp|gho|nvapi|glpat|AKIA|eyJ)[-_A-Za-z0-9.]{12,}")
_LONG = re.compile(r"(?<![\w/+-])(?=[\w+-]*\d)(?=[\w+-]*[A-Za-z])[\w+-]{24,}={0,2}(?![\w/+-])")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?:/\d{1,2})?(?![\w.]*\d)")
_IPV6 = re.compile(
    r"(?<![\w:.])\[?([0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?:%\w+)?\]?(?::\d{1,5})?", re.IGNORECASE
)
_PORT = re.compile(
    rf"(?<![\w.-])[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.{_LABEL})*:\d{{2,5}}\b", re.IGNORECASE
)
_NAME = re.compile(rf"(?<![\w.@-])(?:{_LABEL}\.)+(?:{_ENDINGS})(?![\w-]|\.\w)", re.IGNORECASE)
_LONG_NAME = re.compile(
    rf"(?<![\w.@-])(?=[a-z0-9.]*[0-9-])(?:{_LABEL}\.){{2,}}[a-z]{{2,}}(?![\w-])", re.IGNORECASE
)
_LOCALHOST = re.compile(r"\blocalhost\b", re.IGNORECASE)
_POSIX = re.compile(r"(?<![\w/.])~?(?:/[\w.@+~%-]+){2,}/?")
_WINDOWS = re.compile(r"\b[a-z]:\\[^\s\"'<>|]+", re.IGNORECASE)


class Hiding:
    """Cuts out what is known of one run, and what looks like a host, an address or a key.

    ``replicas`` are names: they are told as "a replica" where a sentence names one.
    """

    def __init__(self, known: Iterable[str] = (), *, replicas: Iterable[str] = ()) -> None:
        # The longest first: an URL holds its host.
        places = sorted({each for each in known if len(each) > 3}, key=lambda e: (-len(e), e))
        # A host may be called as anything is (``chat``): in prompts and answers that is no host.
        self._known = _any_of([each for each in places if not each.isalpha()])
        self._words = _any_of([each for each in places if each.isalpha()], whole=True)
        names = "|".join(re.escape(name) for name in sorted(replicas, key=len, reverse=True))
        self._replica = (
            re.compile(rf"\breplica ['\"]?(?:{names})(?![\w-])['\"]?") if names else None
        )

    @classmethod
    def of(cls, identity: Mapping[str, Any], *, secrets: Iterable[str] = ()) -> Hiding:
        """Know the places of a run by what must stay the same of it."""
        urls, replicas = [], []
        for side in ("stage", "reference"):
            end = identity.get(side) or {}
            urls.append(end.get("url"))
            for name, url in end.get("replicas") or ():
                replicas.append(name)
                urls.append(url)
        known = [part for url in urls if url for part in _places(url)]
        return cls([*known, *secrets], replicas=replicas)

    def answer(self, text: str) -> str:
        """Cut what is known, and tokens that are surely some, out of a prompt or an answer."""
        text = self._cut_known(text)
        text = _USERINFO.sub(f"{KEY}@", text)
        text = _SCHEME_SURE.sub(rf"\g<1>{KEY}", text)
        return _PREFIXED.sub(KEY, text)

    def name(self, text: str | None) -> str | None:
        """Give the name of a model, an engine or a file: of a path only what it ends with."""
        if text is None:
            return None
        text = _WINDOWS.sub(_last, _URL.sub(URL, self._cut_known(text)))
        text = re.sub(r"^[~.]?\.?/\S+", _last, text)
        text = _NAME.sub(HOST, _addresses(_PREFIXED.sub(KEY, text)))
        return _NAMED.sub(rf"\g<1>{KEY}", text)

    def sentence(self, text: str) -> str:
        """Cut everything that looks like a place or a key out of a sentence of the run."""
        if self._replica is not None:
            text = self._replica.sub("a replica", text)
        if self._words is not None:
            text = self._words.sub(HOST, text)
        text = _URL.sub(URL, self._cut_known(text))
        text = _MAIL.sub(MAIL, text)
        text = _SCHEME.sub(rf"\g<1>{KEY}", text)
        text = _NAMED.sub(rf"\g<1>{KEY}", text)
        text = _LONG.sub(KEY, _PREFIXED.sub(KEY, text))
        text = _PORT.sub(HOST, _addresses(text))
        text = _LOCALHOST.sub(HOST, _LONG_NAME.sub(HOST, _NAME.sub(HOST, text)))
        return _WINDOWS.sub(FILE, _POSIX.sub(FILE, text))

    def _cut_known(self, text: str) -> str:
        return text if self._known is None else self._known.sub(HOST, text)

    def anywhere(self, value: Any) -> Any:
        """Cut as :meth:`answer` does out of all texts of a JSON value, keys too."""
        if isinstance(value, str):
            return self.answer(value)
        if isinstance(value, Mapping):
            return {self.answer(key): self.anywhere(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.anywhere(each) for each in value]
        return value


def _any_of(texts: list[str], *, whole: bool = False) -> re.Pattern[str] | None:
    if not texts:
        return None
    found = "|".join(map(re.escape, texts))
    return re.compile(rf"\b(?:{found})\b" if whole else found, re.IGNORECASE)


def _places(url: str) -> list[str]:
    """Give an URL's own spellings; this machine's names are no secret without their port."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return [url]
    found = [url, parts.netloc.rpartition("@")[2], parts.netloc]
    return [each for each in [*found, host] if each and each not in _LOOPBACK]


def _addresses(text: str) -> str:
    return _IPV6.sub(_if_address, _IPV4.sub(ADDRESS, text))


def _if_address(match: re.Match[str]) -> str:
    try:
        ipaddress.IPv6Address(match[1])
    except ValueError:
        return match[0]
    return ADDRESS


def _last(match: re.Match[str]) -> str:
    return re.split(r"[/\\]", match[0].rstrip("/\\"))[-1]
