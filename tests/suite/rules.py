"""Lines that a suite may and may not hold, each with what the error says."""

TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
CHOICE = {"type": "function", "function": {"name": "get_weather"}}
CALLED = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "odd": [1]}]}
CALL = {"tool-call": {"name": "get_weather", "arguments": {"city": "Paris"}}}


def line(**changes):
    """Build a simple valid line, with fields changed or (by ``...``) left out."""
    whole = {
        "id": "a",
        "messages": [{"role": "user", "content": "Hi"}],
        "expect": {"contains": "a"},
        **changes,
    }
    return {key: value for key, value in whole.items() if value is not ...}


def said(**changes):
    """Build a line whose only message has these fields."""
    return line(messages=[{"role": "user", "content": "Hi", **changes}])


VALID = [
    line(),
    line(id="x" * 256),
    line(id="Größe 1/2 — ✓"),
    *(said(role=role) for role in ("developer", "system", "assistant", "tool", "function")),
    said(content=""),
    said(content=[{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {}}]),
    said(name="ann", cache_control={"type": "ephemeral"}),
    line(messages=[{"role": "user", "content": "Hi"}, CALLED, {"role": "tool", "content": "1"}]),
    line(messages=[{"role": "assistant", "tool_calls": [{}]}]),
    line(messages=[{"role": "assistant", "content": None, "refusal": "no"}]),
    line(tools=[]),
    line(tools=[TOOL], tool_choice="auto"),
    line(tools=[TOOL], tool_choice="none"),
    line(tools=[{**TOOL, "function": {"name": "b", "strict": True}}, TOOL], tool_choice=CHOICE),
    line(response_format={"type": "json_schema", "json_schema": {"name": "x"}}),
    line(max_tokens=1),
    line(max_tokens=10_000_000),
    line(stop="\n"),
    line(stop=["a"] * 16),
    line(tags=[]),
    line(tags=["x", "x", ""]),
    line(expect={"equals": ""}),
    line(expect={"equals": " 391\n"}),
    line(expect={"regex": r"(?i)\b391\b|\p{Lu}(?<=a+)"}),
    line(expect={"logprobs-close": {"tolerance": 0}}),
    line(expect={"logprobs-close": {"tolerance": 0.05}}),
    line(tools=[TOOL], expect=CALL),
    line(tools=[TOOL], tool_choice="required", expect={"tool-call": {"name": "get_weather"}}),
    line(tools=[TOOL], tool_choice=CHOICE, expect=CALL),
]

INVALID = [
    (line(id=...), "id: missing"),
    (line(id=""), "id: empty"),
    (line(id=7), "id: a number, must be a string"),
    (line(id="x" * 257), "id: 257 characters"),
    (line(id="a\nb"), "id: holds a control character"),
    (line(id="a\x85b"), "id: holds a control character"),
    (line(messages=...), "messages: missing"),
    (line(messages=[]), "messages: empty"),
    (line(messages="Hi"), "messages: a string, must be"),
    (line(messages=["Hi"]), "messages[0]: a string, must be an object"),
    (line(messages=[{"content": "Hi"}]), "messages[0].role: missing"),
    (said(role="asistant"), 'messages[0].role: no role "asistant"; did you mean "assistant"?'),
    (said(role=1), "messages[0].role: a number, must be a string"),
    (said(content=None), "messages[0].content: null"),
    (line(messages=[{"role": "user"}]), "messages[0].content: missing"),
    (said(role="assistant", content=None), "messages[0].content: null"),
    (said(role="assistant", content=None, tool_calls=[]), "messages[0].content: null"),
    (said(content=3), "messages[0].content: a number"),
    (said(content=[]), "messages[0].content: an empty list"),
    (said(content=["Hi"]), "messages[0].content[0]: a string, must be an object"),
    (said(content=[{"text": "Hi"}]), "messages[0].content[0].type: must be a string"),
    (said(role="assistant", tool_calls={}), "messages[0].tool_calls: an object, must be a list"),
    (said(role="assistant", tool_calls=["f"]), "messages[0].tool_calls[0]: a string"),
    (line(tools={}), "tools: an object, must be a list"),
    (line(tools=None), "tools: null; leave the field out"),
    (line(tools=["f"]), "tools[0]: a string"),
    (line(tools=[{"type": "web_search"}]), 'tools[0].type: must be "function"'),
    (line(tools=[{"type": "function"}]), "tools[0].function: must be an object"),
    (line(tools=[{"type": "function", "function": {}}]), "tools[0].function.name: must be"),
    (
        line(tools=[{"type": "function", "function": {"name": "f", "parameters": "x"}}]),
        "tools[0].function.parameters: a string, must be an object",
    ),
    (line(tool_choice="auto"), "tool_choice: stands without tools"),
    (line(tools=[], tool_choice="auto"), "tool_choice: stands without tools"),
    (line(tools=[TOOL], tool_choice="any"), 'tool_choice: no choice "any"'),
    (line(tools=[TOOL], tool_choice=True), "tool_choice: a boolean"),
    (line(tools=[TOOL], tool_choice={"type": "x"}), "tool_choice.type: must be"),
    (line(tools=[TOOL], tool_choice={"type": "function"}), "tool_choice.function.name: must be"),
    (line(response_format="json"), "response_format: a string"),
    (line(response_format={}), "response_format.type: must be"),
    (line(max_tokens=0), "max_tokens: must be between 1 and 10000000"),
    (line(max_tokens=10_000_001), "max_tokens: must be between"),
    (line(max_tokens=True), "max_tokens: a boolean, must be a whole number"),
    (line(max_tokens="12"), "max_tokens: a string"),
    (line(stop=""), "stop: an empty string"),
    (line(stop=[]), "stop: 0 strings, must be 1 to 16 (the API itself takes 4)"),
    (line(stop=["a"] * 17), "stop: 17 strings"),
    (line(stop=["a", ""]), "stop[1]: must be a non-empty string"),
    (line(stop=1), "stop: a number"),
    (line(tags="x"), "tags: a string, must be a list"),
    (line(tags=None), "tags: null, must be a list"),
    (line(tags=[1]), "tags[0]: a number"),
    (line(temperature=0), "temperature: not a field of a case: set by the run (0)"),
    (line(top_p=1), "top_p: not a field of a case: left unset"),
    (line(model="m"), "model: not a field of a case: set by the run (--stage-model"),
    (line(message=[]), 'message: unknown field; did you mean "messages"?'),
    (line(**{"\x1b[2J": 1}), '"\\u001b[2J": unknown field'),
    (line(expect=...), "expect: missing"),
    (line(expect="391"), "expect: a string, must be an object with one check"),
    (line(expect={}), "expect: must hold exactly one check, found none"),
    (line(expect={"equals": "a", "regex": "a"}), 'one check, found "equals", "regex"'),
    (line(expect={"tool_call": {}}), 'expect: no check "tool_call"; did you mean "tool-call"?'),
    (line(expect={"equals": 391}), 'expect.equals: a number, must be a string: write "391"'),
    (line(expect={"equals": None}), "expect.equals: null"),
    (line(expect={"contains": ""}), "expect.contains: empty"),
    (line(expect={"contains": ["a"]}), "expect.contains: a list"),
    (line(expect={"regex": ""}), "expect.regex: empty"),
    (line(expect={"regex": "a" * 65_537}), "expect.regex: 65537 characters"),
    (line(expect={"logprobs-close": 0.05}), "expect.logprobs-close: a number, must be an object"),
    (line(expect={"logprobs-close": {}}), "expect.logprobs-close.tolerance: missing"),
    (line(expect={"logprobs-close": {"tolerance": True}}), "tolerance: a boolean"),
    (line(expect={"logprobs-close": {"tolerance": "0"}}), "tolerance: a string"),
    (line(expect={"logprobs-close": {"tolerance": -0.1}}), "tolerance: must be a finite number"),
    (
        line(expect={"logprobs-close": {"tolerance": 1, "atol": 1}}),
        'expect.logprobs-close: unknown field "atol"',
    ),
    (line(expect=CALL), "expect.tool-call.name: the case gives no tools"),
    (line(tools=[], expect=CALL), "expect.tool-call.name: the case gives no tools"),
    (line(tools=[TOOL], tool_choice="none", expect=CALL), 'tool_choice is "none"'),
    (line(tools=[TOOL], expect={"tool-call": "f"}), "expect.tool-call: a string"),
    (line(tools=[TOOL], expect={"tool-call": {}}), "expect.tool-call.name: missing"),
    (line(tools=[TOOL], expect={"tool-call": {"name": ""}}), "expect.tool-call.name: must be"),
    (
        line(tools=[TOOL], expect={"tool-call": {"name": "get_weather", "args": {}}}),
        'expect.tool-call: unknown field "args"',
    ),
    (
        line(tools=[TOOL], expect={"tool-call": {"name": "get_weather", "arguments": "{}"}}),
        "expect.tool-call.arguments: a string, must be an object, not JSON inside a string",
    ),
]
"""Lines that the loader and the schema both refuse."""

BEYOND_THE_SCHEMA = [
    (line(max_tokens=12.0), "max_tokens: a number with a fraction or an exponent"),
    (line(expect={"regex": "(391"}), "expect.regex: does not compile: missing ) at position 4"),
    (line(expect={"regex": "(" * 5000 + ")" * 5000}), "expect.regex: does not compile"),
    (line(expect={"regex": "(?a)(?u)b"}), "expect.regex: does not compile"),
    (line(expect={"logprobs-close": {"tolerance": 10**400}}), "tolerance: must be a finite"),
    (line(tools=[TOOL, TOOL]), 'tools[1].function.name: "get_weather" is the name of tools[0]'),
    (
        line(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "get_wether"}}),
        'tool_choice.function.name: no tool "get_wether" among the case\'s tools; did you mean',
    ),
    (
        line(tools=[TOOL], expect={"tool-call": {"name": "get_wether"}}),
        'expect.tool-call.name: no tool "get_wether" among the case\'s tools; did you mean',
    ),
    (
        line(
            tools=[TOOL, {"type": "function", "function": {"name": "f"}}],
            tool_choice=CHOICE,
            expect={"tool-call": {"name": "f"}},
        ),
        "expect.tool-call.name: tool_choice demands another tool",
    ),
]
"""Lines that only the loader can refuse."""
