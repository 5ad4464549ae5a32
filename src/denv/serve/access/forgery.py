"""Requests that another site has a browser send: told by where they come from, and by a secret."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers

FORM = "application/x-www-form-urlencoded"
HEADER = "X-CSRF-Token"
FIELD = "csrf"
MOST_FIELDS = 200


def is_from_here(headers: Headers) -> bool:
    """Tell whether a browser says that a page of this very server sends this.

    Browsers say it in ``Sec-Fetch-Site`` where they are reached by TLS or on loopback, else in
    ``Origin`` alone. No page can set either; what has neither was not sent by a browser of today.
    """
    site, origin = headers.getlist("sec-fetch-site"), headers.getlist("origin")
    if len(site) > 1 or len(origin) > 1 or not (site or origin):
        return False
    if site and site[0] != "same-origin":
        return False
    # A page that names no referrer has "null" for its origin; then the other header must speak.
    return not origin or (bool(site) and origin[0] == "null") or _is_own(origin[0], headers)


def _is_own(origin: str, headers: Headers) -> bool:
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    own = headers.get("host", "").lower()
    return parts.scheme in {"http", "https"} and bool(own) and parts.netloc.lower() == own


def shows_secret(headers: Headers, body: bytes, secret: str) -> bool:
    """Tell whether a request has the secret of its session's forms, as a field or a header."""
    shown = headers.get(HEADER)
    if shown is None:
        shown = fields_of(headers, body).get(FIELD, "")
    return hmac.compare_digest(shown.encode("utf-8", "surrogatepass"), secret.encode())


def fields_of(headers: Headers, body: bytes) -> dict[str, str]:
    """Give the fields of a form, none where it is not one or one is given twice."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM:
        return {}
    try:
        found = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        return {}
    return {name: values[0] for name, values in found.items() if len(values) == 1}
