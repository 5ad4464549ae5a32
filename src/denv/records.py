"""The values that walk through the program, in the order in which they appear.

suite file → Case → Request → Exchange → Observation → Score → CaseResult → Estimate → Verdict.
All are frozen; none does I/O. A missing answer, a cut stream or absent logprobs are fields here,
never an empty text or a zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar

Json = Any
"""A JSON value as the standard library parses it."""


class Word(StrEnum):
    """A word of a fixed list. It hashes as the string that it equals, which is also quicker."""

    __hash__ = str.__hash__


class Side(Word):
    """Which of the two deployments an exchange is with."""

    STAGE = "stage"
    REFERENCE = "reference"


SIDES = tuple(Side)
"""To walk over for each case: an enumeration takes ten times as long to walk over."""


class Kind(Word):
    """What a threshold counts."""

    EXACT = "exact"
    TOOL_CALLS = "tool-calls"
    LOGPROBS = "logprobs"


class Outcome(Word):
    """What became of one case."""

    PASS = "pass"
    FAIL = "fail"
    REFERENCE_FAIL = "reference-fail"
    UNMEASURED = "unmeasured"
    REFERENCE_ERROR = "reference-error"


class Cause(Word):
    """Why a case failed."""

    TEMPLATE = "template"
    PARSER = "parser"
    LIMIT = "limit"
    SAMPLING = "sampling"
    PRECISION = "precision"
    ENGINE = "engine"
    MODEL = "model"
    CONTRACT = "contract"
    AVAILABILITY = "availability"
    UNSTABLE = "unstable"
    UNKNOWN = "unknown"


class Verdict(Word):
    """What a run, or one kind of it, says. The worst of a run's kinds is the run's."""

    PASS = "pass"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    FAIL = "fail"
    CANCELLED = "cancelled"
    UNGATED = "ungated"


# ---------------------------------------------------------------- suite


@dataclass(frozen=True, slots=True)
class Equals:
    """The answer's text is this string, code point for code point."""

    text: str
    name: ClassVar[str] = "equals"
    kind: ClassVar[Kind] = Kind.EXACT


@dataclass(frozen=True, slots=True)
class Contains:
    """The answer's text contains this string."""

    text: str
    name: ClassVar[str] = "contains"
    kind: ClassVar[Kind] = Kind.EXACT


@dataclass(frozen=True, slots=True)
class Regex:
    """A search for this pattern (dialect of the ``regex`` package) finds something."""

    pattern: str
    name: ClassVar[str] = "regex"
    kind: ClassVar[Kind] = Kind.EXACT


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Some call in the answer has this name and every one of these arguments.

    Non-integer numbers in ``arguments`` are ``decimal.Decimal``, so that nothing is rounded.
    """

    tool: str
    arguments: Mapping[str, Json]
    name: ClassVar[str] = "tool-call"
    kind: ClassVar[Kind] = Kind.TOOL_CALLS


@dataclass(frozen=True, slots=True)
class LogprobsClose:
    """Each aligned token's logprob differs by at most ``tolerance`` nats between the sides."""

    tolerance: float
    name: ClassVar[str] = "logprobs-close"
    kind: ClassVar[Kind] = Kind.LOGPROBS


Check = Equals | Contains | Regex | ToolCall | LogprobsClose


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a suite.

    ``fields`` are the request's own (``messages``, ``tools`` …) in the line's key order.
    ``index`` counts cases from 0; ``line`` counts the file's lines from 1.
    """

    id: str
    index: int
    line: int
    fields: Mapping[str, Json]
    check: Check
    tags: tuple[str, ...] = ()


# ---------------------------------------------------------------- what is sent


@dataclass(frozen=True, slots=True)
class Secret:
    """A key that does not show itself: ``str`` and ``repr`` are masked, ``reveal`` is not."""

    _value: str

    def reveal(self) -> str:
        """Give the key itself, for the one header that carries it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to wait for a connection, for the first byte, and for the whole answer."""

    connect_s: float = 10.0
    first_byte_s: float = 300.0
    total_s: float = 600.0


class Pacing(Word):
    """How the requests of an endpoint with a rate are spaced."""

    EVEN = "even"
    INTERLEAVED = "interleaved"


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million prompt and completion tokens, in whatever currency the user thinks in."""

    prompt_per_million: float
    completion_per_million: float


@dataclass(frozen=True, slots=True)
class Replica:
    """One of several servers of a side; without a key it gets the side's where it is its host."""

    name: str
    url: str
    key: Secret | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One side: where it is, and what is added for it alone.

    ``url`` is a base that ends in ``/v1``. ``model`` left out is the only one that ``/models``
    lists. ``headers`` and ``extra`` (body fields) are added to each request of this side.
    ``rate`` is the most requests a second, at even gaps or, with ``pacing`` interleaved, at gaps of
    chance with that mean. ``replica_header`` is the response header that names the replica which
    answered. ``sampled`` declares that the side samples although temperature 0 is
    sent, as thinking modes do. ``secret_headers`` names those of ``headers`` whose values are
    secrets although their names do not say so. ``ca_file`` holds certificates to trust besides
    the system's. Where there are ``replicas``, cases are asked of them in turn by their index
    instead of ``url``; pace, retries and dialect are those of the endpoint as a whole.
    ``permits`` is the secret of the router at ``url``: ``replicas`` are then names there, all with
    that URL, and each request carries a permit for the one that it is to reach.
    """

    url: str
    model: str | None = None
    key: Secret | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)
    concurrency: int = 8
    rate: float | None = None
    retries: int = 4
    timeouts: Timeouts = Timeouts()
    price: Price | None = None
    replica_header: str | None = None
    name: str | None = None
    sampled: bool = False
    ca_file: str | None = None
    secret_headers: frozenset[str] = frozenset()
    replicas: tuple[Replica, ...] = ()
    permits: Secret | None = None
    pacing: Pacing = Pacing.EVEN


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a side has shown that it will not take; part of how requests to it are written."""

    dropped: frozenset[str] = frozenset()
    top_logprobs: int | None = 20
    max_tokens_field: str = "max_tokens"


@dataclass(frozen=True, slots=True)
class Request:
    """The bytes of one Chat Completions request, and what of it later steps must know."""

    body: bytes
    max_tokens: int
    stream: bool
    logprobs: bool


# ---------------------------------------------------------------- what comes back


class FaultKind(Word):
    """How the transport failed."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT_CONNECT = "timeout-connect"
    TIMEOUT_FIRST_BYTE = "timeout-first-byte"
    TIMEOUT_TOTAL = "timeout-total"
    CUT = "cut"
    TOO_LARGE = "too-large"
    REDIRECT = "redirect"
    PROTOCOL = "protocol"


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the transport, in one line that holds no secret."""

    kind: FaultKind
    message: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """An earlier try at the same request: what came, and how long was waited after it."""

    status: int | None
    problem: str
    waited_s: float


@dataclass(frozen=True, slots=True)
class Exchange:
    """The raw HTTP answer to one request, after retries.

    ``status`` is None when no response came; ``body`` is what was read, decompressed and capped;
    header names are lower case. ``streamed`` says that the body is server-sent events.
    """

    status: int | None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    streamed: bool = False
    fault: Fault | None = None
    attempts: tuple[Attempt, ...] = ()
    first_byte_s: float | None = None
    elapsed_s: float | None = None
    replica: str | None = None


class ProblemKind(Word):
    """Why an exchange holds no usable answer."""

    TRANSPORT = "transport"
    RATE_LIMITED = "rate-limited"
    SERVER_ERROR = "server-error"
    REFUSED = "refused"
    INCOMPLETE = "incomplete"
    CONTRACT = "contract"


@dataclass(frozen=True, slots=True)
class Problem:
    """No usable answer: its kind, the cause that the body shows, and a line that says it.

    ``retry`` is True when asking again may help.
    """

    kind: ProblemKind
    cause: Cause
    message: str
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something about an answer's shape that is reported once an endpoint, with a count.

    ``code`` is a short stable slug (``arguments-object``), ``detail`` one sentence for it.
    """

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as it came: the name, and the arguments as parsed, or why they do not parse.

    ``arguments`` is a mapping (non-integer numbers are Decimal) or None; ``raw`` is the text of
    it; ``error`` says why ``arguments`` is None. ``unwrapped`` holds the mapping that a
    double-encoded string hides.
    """

    name: str | None
    arguments: Mapping[str, Json] | None
    raw: str
    id: str | None = None
    error: str | None = None
    unwrapped: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class TopLogprob:
    """One alternative of a position. ``logprob`` is None where the value is a sentinel."""

    token: str
    logprob: float | None
    bytes: bytes | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of the answer with its own logprob (nats) and its alternatives.

    ``bytes`` is None where the server does not say them (absent, or only a replacement
    character); ``logprob`` is None where it is null, not finite or a sentinel.
    """

    token: str
    logprob: float | None
    bytes: bytes | None = None
    id: int | None = None
    top: tuple[TopLogprob, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reports them."""

    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """The one normalised form of an exchange that every check reads.

    ``problem`` is None exactly when there is a usable answer. ``text`` is the message's content
    as clients see it, None where there is none; ``reasoning`` is never part of it.
    ``finish_reason`` is normalised (``stop``, ``length``, ``tool_calls``, ``content_filter``);
    ``native_finish_reason`` is the server's own word where it differs. ``logprobs`` is None
    where the server gave none; then ``logprobs_absent`` says how. ``logprobs_reasoning`` counts
    the tokens that belong to reasoning and were set aside by the server's own separation.
    ``calls_in_text`` and ``calls_in_reasoning`` name the form of a tool call that stands there
    as text; ``text_after_reasoning`` is what would be left of ``text`` without inline thinking.
    """

    problem: Problem | None = None
    text: str | None = None
    reasoning: str | None = None
    calls: tuple[Call, ...] = ()
    finish_reason: str | None = None
    native_finish_reason: str | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    logprobs_absent: str | None = None
    logprobs_reasoning: int = 0
    usage: Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    provider: str | None = None
    replica: str | None = None
    refusal: str | None = None
    text_after_reasoning: str | None = None
    reasoning_open: bool = False
    calls_in_text: str | None = None
    calls_in_reasoning: str | None = None
    oddities: tuple[Oddity, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    first_byte_s: float | None = None
    elapsed_s: float | None = None


# ---------------------------------------------------------------- what is made of it


@dataclass(frozen=True, slots=True)
class Score:
    """What one check says of an answer.

    ``passed`` is None when the check could not be measured; ``reason`` says why in one line.
    ``detail`` holds figures for the report (strict JSON values).
    """

    passed: bool | None
    reason: str = ""
    cause: Cause | None = None
    warnings: tuple[str, ...] = ()
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of one case, with both sides as the report shows them (strict JSON values)."""

    id: str
    index: int
    check: str
    kind: Kind
    outcome: Outcome
    cause: Cause | None
    reason: str
    warnings: tuple[str, ...]
    stage: Mapping[str, Json] | None
    reference: Mapping[str, Json] | None
    detail: Mapping[str, Json] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Estimate:
    """Counts of one kind or check, its pass rate and interval (None where nothing was counted)."""

    planned: int
    counts: Mapping[Outcome, int]
    pass_rate: float | None
    interval: tuple[float, float] | None
    threshold: float | None = None
    verdict: Verdict | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The rates that a run is held to, as exact fractions.

    ``rates`` is empty where the user named none: then all of ``exact`` and of ``tool-calls``
    must pass where they are present. ``max_retried`` is the share of the stage's requests that
    may be retried, 429 apart.
    """

    rates: Mapping[Kind, Fraction] = field(default_factory=dict)
    coverage: Fraction = Fraction(9, 10)
    max_retried: Fraction = Fraction(1, 50)
    confidence: Fraction | None = None
