"""The three APIs: where each is asked, and which parts of deepseek-recipe read and write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from deepseek_recipe import (
    ChatCompletionChunk,
    ChatCompletionChunkGenerator,
    ChatCompletionRequest,
    ChatCompletionResponse,
    ConversationRequest,
    ConversionOptions,
    MessagesChunkGenerator,
    MessagesRequest,
    MessagesResponse,
    MessagesStreamEvent,
    ResponsesChunkGenerator,
    ResponsesRequest,
    ResponsesResponse,
    ResponsesStreamEvent,
    SpecialToken,
)

RequestType: TypeAlias = type[ChatCompletionRequest | ResponsesRequest | MessagesRequest]
ResponseType: TypeAlias = type[ChatCompletionResponse | ResponsesResponse | MessagesResponse]
Response: TypeAlias = ChatCompletionResponse | ResponsesResponse | MessagesResponse
Generator: TypeAlias = (
    ChatCompletionChunkGenerator | ResponsesChunkGenerator | MessagesChunkGenerator
)
Event: TypeAlias = ChatCompletionChunk | ResponsesStreamEvent | MessagesStreamEvent


@dataclass(frozen=True, slots=True)
class Format:
    """One API: ``path`` is where it is asked, ``others`` where DeepSeek's own API takes it too."""

    name: str
    path: str
    request: RequestType
    response: ResponseType
    others: tuple[str, ...] = ()


CHAT = Format(
    "chat",
    "/v1/chat/completions",
    ChatCompletionRequest,
    ChatCompletionResponse,
    others=("/chat/completions",),
)
RESPONSES = Format("responses", "/v1/responses", ResponsesRequest, ResponsesResponse)
MESSAGES = Format(
    "messages",
    "/v1/messages",
    MessagesRequest,
    MessagesResponse,
    others=("/anthropic/v1/messages",),
)
FORMATS = (CHAT, RESPONSES, MESSAGES)

MARKS = tuple(
    mark.default_str()
    for mark in (SpecialToken.ThinkingStart, SpecialToken.ThinkingEnd, SpecialToken.Dsml)
)
"""Special tokens that answers are parsed by, so that engines must write them out."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A request that the recipe has taken: what it asks for, and what writes its answer.

    A generator writes one answer and is used up by it.
    """

    model: str
    conversation: ConversationRequest
    generator: Generator


def convert(format_: Format, body: bytes, *, options: ConversionOptions, id_: str) -> Converted:
    """Have the recipe read a request of one API.

    Raises
    ------
    ConversionError
        It refuses the request.
    ValueError
        The body is not JSON, or not of the API's shape.
    """
    request = format_.request(body)
    model = request.model
    if isinstance(request, ResponsesRequest):
        names, echo = request.namespace_tool_map(options), request.echo()
        conversation = request.convert(options)
        generator = ResponsesRequest.chunk_generator(conversation, id_, model)
        written = generator.with_namespace_tool_map(names).with_echo(echo)
        return Converted(model, conversation, written)
    conversation = request.convert(options)
    return Converted(model, conversation, format_.request.chunk_generator(conversation, id_, model))
