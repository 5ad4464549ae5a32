"""A request of one of the APIs → what the engine is asked, or why it is refused."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, replace
from typing import Any

import orjson
from deepseek_recipe import (
    ConversationRequest,
    ConversionError,
    ConversionOptions,
    DeepseekV4Encoding,
    DeepseekV41Encoding,
    ModelVersion,
    ReasoningContentBehavior,
    Tokenizer,
    WebSearchBehavior,
)

from denv.adapter.engines import lengths
from denv.adapter.engines.protocol import Prompt, Sampling
from denv.adapter.formats import Converted, Format, convert
from denv.adapter.refusals import Refusal, RefusedError, refusal
from denv.adapter.settings import AdapterSettings

VERSIONS = {"v4-pro": ModelVersion.DeepseekV4Pro, "v4.1-flash": ModelVersion.DeepseekV41Flash}
UNENFORCED = frozenset(("json_schema", "regex"))


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, ready for the engine. ``prompt_tokens`` is None where nobody can count them."""

    format: Format
    id: str
    created: int
    converted: Converted
    prompt: Prompt
    sampling: Sampling
    prompt_tokens: int | None

    @property
    def stream(self) -> bool:
        """Whether the answer is wanted as it comes."""
        return self.converted.conversation.stream

    @property
    def thinking(self) -> bool:
        """Whether the model thinks first, and is therefore sampled at 1.0 whatever was asked."""
        return self.converted.conversation.conversation.thinking_mode


def conversion_options(settings: AdapterSettings) -> ConversionOptions:
    """Say in the recipe's own words what the settings say."""
    searches = {"drop": WebSearchBehavior.Drop, "refuse": WebSearchBehavior.Reject}
    reasoning = {
        "fill": ReasoningContentBehavior.FillEmpty,
        "refuse": ReasoningContentBehavior.Reject,
    }
    options = ConversionOptions(
        default_thinking_mode=settings.thinking,
        reasoning_content_behavior=reasoning[settings.missing_reasoning],
        responses_web_search=searches[settings.responses_web_search],
        messages_web_search=searches[settings.messages_web_search],
        thinking_max_tokens_upper_bound=settings.limits.thinking_tokens,
        non_thinking_max_tokens_upper_bound=settings.limits.answer_tokens,
    )
    named = {name: VERSIONS[version] for name, version in settings.models.items()}
    return options.with_model_versions_by_name(named)


class Encoder:
    """Writes conversations as prompts: as ids where ``ids`` and there is a tokenizer, else as text.

    Ids keep what a user writes apart from the model's own marks; a text that an engine tokenizes
    does not. ``context`` is how many tokens the engine holds.
    """

    def __init__(self, tokenizer: Tokenizer | None, *, ids: bool, context: int) -> None:
        self._tokenizer = tokenizer
        self._context = context
        self.ids = ids and tokenizer is not None
        v4, v41 = DeepseekV4Encoding(), DeepseekV41Encoding()
        if tokenizer is not None:
            v4, v41 = v4.with_tokenizer(tokenizer), v41.with_tokenizer(tokenizer)
        self._v4, self._v41 = v4, v41

    def encode(self, request: ConversationRequest) -> tuple[Prompt, int | None]:
        """Give the prompt, and its length in tokens where that is known.

        Raises
        ------
        RefusedError
            It holds images, or is far too long.
        RuntimeError
            The tokenizer lacks one of the model's marks.
        """
        flash = request.model_version == ModelVersion.DeepseekV41Flash
        encoding = self._v41 if flash else self._v4
        rendered = encoding.render_conversation(request.conversation)
        if rendered.image_sources:
            raise RefusedError(refusal(400, "this deployment takes text alone, and no images"))
        self._check_length(rendered.prompt)
        if self.ids:
            ids = tuple(encoding.encode(request.conversation))
            return Prompt(ids=ids), len(ids)
        counted = None if self._tokenizer is None else len(self._tokenizer.encode(rendered.prompt))
        return Prompt(text=rendered.prompt), counted

    def _check_length(self, prompt: str) -> None:
        """Refuse what is far too long before all of it is counted, at a second a megabyte."""
        first = lengths.beginning(prompt, context=self._context)
        if self._tokenizer is None or first is None:
            return
        if lengths.cannot_fit(len(self._tokenizer.encode(first)), context=self._context):
            raise RefusedError(refusal(400, lengths.too_long(self._context)))


class Reader:
    """Reads requests for one engine: ``context`` is how many tokens it holds."""

    def __init__(self, settings: AdapterSettings, encoder: Encoder, *, context: int) -> None:
        self._settings = settings
        self._options = conversion_options(settings)
        self._encoder = encoder
        self._context = context
        self._gives_logprobs = settings.tokenizer is not None

    @property
    def sends_ids(self) -> bool:
        """Whether prompts are sent as token ids."""
        return self._encoder.ids

    def read(self, format_: Format, body: bytes) -> Asked:
        """Convert, encode and bound one request.

        Raises
        ------
        RefusedError
            With the status and body of the recipe, where the recipe refuses.
        """
        id_ = str(uuid.uuid4())
        try:
            converted = convert(format_, body, options=self._options, id_=id_)
            self._check(converted.conversation)
            prompt, counted = self._encoder.encode(converted.conversation)
            room = converted.conversation.resolve_max_tokens(counted or 0, self._context)
            sampling = self._sampling(converted.conversation, body, max_tokens=room)
        except ConversionError as error:
            raise RefusedError(Refusal(error.status_code, error.body)) from None
        except ValueError as error:
            raise RefusedError(refusal(400, str(error))) from None
        return Asked(format_, id_, int(time.time()), converted, prompt, sampling, counted)

    def _check(self, request: ConversationRequest) -> None:
        """Refuse what the recipe leaves to its caller and this caller does not do."""
        wanted = request.conversation.response_format
        if wanted in UNENFORCED and self._settings.unenforced_formats == "refuse":
            raise RefusedError(
                refusal(400, f"response_format {wanted} is not enforced by this deployment")
            )
        if request.inference_options.logprobs and not self._gives_logprobs:
            raise RefusedError(refusal(400, "this deployment gives no logprobs"))

    def _sampling(self, request: ConversationRequest, body: bytes, *, max_tokens: int) -> Sampling:
        options = request.inference_options
        sampling = Sampling(
            max_tokens=max_tokens,
            temperature=1.0 if options.temperature is None else options.temperature,
            top_p=1.0 if options.top_p is None else options.top_p,
            seed=options.seed,
            logprobs=(options.top_logprobs or 0) if options.logprobs else None,
        )
        own = self._settings.temperature
        if own is None or request.conversation.thinking_mode or _names(body, "temperature"):
            return sampling
        return replace(sampling, temperature=own)


def _names(body: bytes, field: str) -> bool:
    """Whether a body that the recipe has taken sets a field."""
    document: dict[str, Any] = orjson.loads(body)
    return document.get(field) is not None
