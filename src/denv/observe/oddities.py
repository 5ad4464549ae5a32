"""What may be odd about an answer that is usable all the same: one constant an oddity.

Codes are stable, and details hold nothing of the single answer, because both are counted.
"""

from __future__ import annotations

from denv.records import Oddity

Notes = list[Oddity]
"""The oddities met so far in one exchange, in order, repeats included."""

# ---------------------------------------------------------------- body

NOT_STRICT_JSON = Oddity(
    "not-strict-json", "The body holds NaN, Infinity, an overflowing number or a repeated key."
)
INVALID_UTF8 = Oddity("invalid-utf8", "The body is not UTF-8; such bytes are read as U+FFFD.")
LONE_SURROGATE = Oddity("lone-surrogate", "A text holds half a surrogate pair, read as U+FFFD.")

# ---------------------------------------------------------------- choice and message

LEGACY_TEXT = Oddity("legacy-text", "The answer stands in choices[].text, as in completions.")
EXTRA_CHOICES = Oddity("extra-choices", "More than one choice came though one was asked for.")
CONTENT_PARTS = Oddity("content-parts", "The content is a list of parts instead of a string.")
UNKNOWN_PART = Oddity("unknown-part", "The content holds a part that is neither text nor thinking.")
INLINE_REASONING = Oddity("inline-reasoning", "Reasoning is left in the content.")
FUNCTION_CALL = Oddity("function-call", "A call stands in the legacy field function_call.")
ARGUMENTS_OBJECT = Oddity("arguments-object", "Arguments are an object instead of a string.")
FINISH_MISSING = Oddity("finish-missing", "The finish reason is missing, null or empty.")
FINISH_UNKNOWN = Oddity("finish-unknown", "The finish reason is none of the known ones.")
FINISH_STOP_WITH_CALLS = Oddity(
    "finish-stop-with-calls", "The finish reason of an answer with tool calls is stop."
)
FINISH_CALLS_WITHOUT_CALLS = Oddity(
    "finish-calls-without-calls", "The finish reason is tool_calls, but there is no call."
)
EMPTY_MESSAGE = Oddity("empty-message", "A cut or filtered answer has no text, call or reasoning.")
USAGE_NOT_INTEGER = Oddity("usage-not-integer", "A token count of the usage is not an integer.")

# ---------------------------------------------------------------- logprobs

LOGPROB_SENTINEL = Oddity(
    "logprob-sentinel", "A logprob is a placeholder such as -9999 or not finite."
)
LOGPROB_NOT_NUMBER = Oddity("logprob-not-number", "A logprob is not a number.")
LOGPROB_POSITIVE = Oddity("logprob-positive", "A logprob is above zero.")
LOGPROB_BYTES = Oddity("logprob-bytes-invalid", "A token's bytes are not a list of byte values.")
LOGPROB_ENTRY = Oddity("logprob-entry-invalid", "An entry of the logprobs is not a token.")
LOGPROBS_TOO_MANY = Oddity("logprobs-too-many", "There are more logprobs than any answer has.")
LOGPROBS_LEGACY = Oddity("logprobs-legacy", "The logprobs have the shape of completions.")

# ---------------------------------------------------------------- streams

STREAM_PLAIN_JSON = Oddity("stream-plain-json", "A stream was asked for and plain JSON came.")
STREAM_NO_DONE = Oddity("stream-no-done", "The stream ends without [DONE].")
STREAM_MESSAGE = Oddity("stream-message", "A chunk of the stream holds a message, not a delta.")
STREAM_EVENTS_JOINED = Oddity("stream-events-joined", "Events are not parted by an empty line.")
STREAM_CALL_INDEX = Oddity("stream-call-index", "Different calls of a stream share one index.")
STREAM_CALL_NO_INDEX = Oddity("stream-call-no-index", "Calls of a stream have no index.")
STREAM_CALL_IDS = Oddity("stream-call-ids", "The pieces of one streamed call bear different ids.")
