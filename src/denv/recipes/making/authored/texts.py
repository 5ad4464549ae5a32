"""Calls whose argument is a text in some other language of machines: each code point counts."""

from __future__ import annotations

from denv.recipes.making.authored.rows import Calls
from denv.recipes.making.drafts import Authored, Json, calling
from denv.recipes.making.schema import text, tool

_call = Calls("tools-single", first=1)


def _verbatim(
    name: str, wish: str, call: tuple[str, str, str], *, wrong: str | None, why: str
) -> Authored:
    """Give a case in which a tool takes one text as it stands: (tool, parameter, text)."""
    used, parameter, value = call
    tools: list[Json] = [
        tool(used, f"Takes the {parameter} exactly as it is given", **{parameter: text()}),
        tool("ask_operator", "Ask a human being", question=text()),
    ]
    damaged = None if wrong is None else (calling(used, {parameter: wrong}), "the text is damaged")
    return _call(
        name,
        f"{wish}\n{value}",
        tools,
        (used, {parameter: value}),
        why=why,
        wrong=damaged,
    )


CASES = (
    _verbatim(
        "tool-text-sql",
        "Run exactly the query in the next line:",
        (
            "run_query",
            "query",
            "SELECT \"user\", note FROM log WHERE note LIKE '%\\_a%' AND n <> 3;",
        ),
        wrong="SELECT user, note FROM log WHERE note LIKE '%_a%' AND n <> 3;",
        why="Both kinds of quotes and a backslash must arrive.",
    ),
    _verbatim(
        "tool-text-regex",
        "Search the log for exactly this regular expression:",
        ("search_log", "pattern", r"^\d{4}-\d{2}\s+\[(WARN|ERROR)\]\s.*\\tmp\\$"),
        wrong=r"^d{4}-d{2}s+[(WARN|ERROR)]s.*\tmp\$",
        why="Every backslash must arrive, the doubled ones doubled.",
    ),
    _verbatim(
        "tool-text-shell",
        "Run exactly this command:",
        (
            "run_command",
            "command",
            'grep -c "it\'s" *.txt | awk \'{print $2}\' > out && echo "done"',
        ),
        wrong='grep -c "it\'s" *.txt | awk \'{print }\' > out &amp;&amp; echo "done"',
        why="Quotes in quotes, a pipe, $2 and && must arrive.",
    ),
    _verbatim(
        "tool-text-url",
        "Open exactly this address:",
        ("open_page", "url", "https://example.com/a%20b/?q=x+y&lang=pt-BR&tags[]=1#part-2"),
        wrong="https://example.com/a b/?q=x y&lang=pt-BR&tags[]=1#part-2",
        why="The address keeps its escapes.",
    ),
    _verbatim(
        "tool-text-hash",
        "Check out exactly this commit:",
        ("checkout", "commit", "3f9ac27e81d04b65f2a7719c0e48d5b6a1c3e720"),
        wrong="3f9ac27e81d04b65f2a7719c0e48d5b6a1c3e72",
        why="Forty hexadecimal digits, none left out.",
    ),
    _verbatim(
        "tool-text-arabic",
        "Save exactly this headline, which is written from right to left:",
        ("save_headline", "headline", "افتتاح المكتبة الجديدة في القاهرة يوم 12 مايو"),
        wrong="افتتاح المكتبة الجديدة في القاهرة يوم ٢١ مايو",
        why="The code points stay in their order.",
    ),
    _verbatim(
        "tool-text-japanese",
        "Save exactly this title:",
        ("save_title", "title", "『吾輩は猫である』第1巻——名前はまだ無い。"),
        wrong="\\u300e\\u543e\\u8f29\\u306f\\u732b\\u3067\\u3042\\u308b\\u300f第1巻——名前はまだ無い。",
        why="Brackets, dashes and the full stop are those of Japanese.",
    ),
    _verbatim(
        "tool-text-emoji",
        "Post exactly this line:",
        ("post_status", "status", "Launch 🚀 at 9 – family 👨‍👩‍👧 welcome, flags 🇳🇴🇧🇷 ok 👍🏽"),
        wrong="Launch 🚀 at 9 – family 👨👩👧 welcome, flags 🇳🇴🇧🇷 ok 👍",
        why="Joined emoji hold several code points, all of which must arrive.",
    ),
    _verbatim(
        "tool-text-json",
        "Store exactly this text as the payload:",
        ("store_payload", "payload", '{"a": [1, {"b": "c\\n\\"d\\""}], "e": null}'),
        wrong='{"a": [1, {"b": "c\n"d""}], "e": null}',
        why="It is a text that looks like JSON, and stays a text.",
    ),
    _verbatim(
        "tool-text-tool-call",
        "Write exactly this line into the log:",
        ("write_log", "entry", '<tool_call>{"name": "ask_operator", "arguments": {}}</tool_call>'),
        wrong='{"name": "ask_operator", "arguments": {}}',
        why="A text that looks like a call is a text inside an argument.",
    ),
    _verbatim(
        "tool-text-xml",
        "Send exactly this element:",
        ("send_element", "xml", '<a href="x?p=1&amp;q=2"><![CDATA[5 < 6 ]]></a>'),
        wrong='<a href="x?p=1&q=2">5 < 6 </a>',
        why="Markup is not unescaped on its way.",
    ),
    _verbatim(
        "tool-text-python",
        "Save exactly this code as the cell, with its indents:",
        ("save_cell", "cell", "for x in [1, 2]:\n    if x:\n        print(f\"{x}\\t'ok'\")"),
        wrong="for x in [1, 2]:\n  if x:\n    print(f\"{x}\t'ok'\")",
        why="Indents and the two characters of \\t must arrive.",
    ),
    _verbatim(
        "tool-text-poem",
        "Save exactly these lines as the poem, with the empty line:",
        ("save_poem", "poem", "The tide goes out,\n\nthe tide comes in -\n  and no one counts."),
        wrong="The tide goes out,\nthe tide comes in -\nand no one counts.",
        why="The empty line and the indent belong to the text.",
    ),
    _verbatim(
        "tool-text-latex",
        "Typeset exactly this formula:",
        ("typeset", "formula", r"\frac{\alpha_{1}^{2}}{\sqrt{n}} \neq \text{\"o}\,\%"),
        wrong='\frac{\alpha_{1}^{2}}{\\sqrt{n}} \neq \text{"o}\\,\\%',
        why="Backslashes ahead of f, a, n and t are no escapes.",
    ),
    _verbatim(
        "tool-text-math",
        "Store exactly this statement:",
        ("store_statement", "statement", "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε"),
        wrong="∀e>0 ∃d>0: |x-a|<d => |f(x)-f(a)|<e",
        why="Each sign is one of Unicode's, and none is rewritten.",
    ),
    _verbatim(
        "tool-text-csv",
        "Import exactly this line:",
        ("import_line", "line", 'Holt,"Mill Lane 3, ""rear""",,12.50,\'x\''),
        wrong='Holt,"Mill Lane 3, "rear"",,12.50,\'x\'',
        why="Doubled quotes and the empty field must arrive.",
    ),
)
