"""Code in several languages; what it gives is argued case by case."""

# ruff: noqa: E501 - prompts are not broken

from __future__ import annotations

from functools import partial

from denv.recipes.making.authored.rows import chosen, counted, one_word, told

_counted, _word = partial(counted, part="code"), partial(one_word, part="code")
_chosen = partial(chosen, part="code")

NUMBER = "Answer with the number only."
PRINTED = "Answer with what is printed only."

CASES = (
    _counted(
        name="code-js-reduce",
        wish=f"What does this JavaScript print?\n\nconsole.log([4, 7, 9].reduce((a, b) => a + b, 5));\n\n{NUMBER}",
        right=25,
        wrong="20",
        why="5 + 4 + 7 + 9 = 25. Wrong: the start value is left out.",
    ),
    _word(
        name="code-js-typeof",
        wish="What does `typeof [1, 2]` give in JavaScript? Answer with the word only.",
        right="object",
        wrong="array",
        why="An array is an object to typeof. Wrong: the guess that the name suggests.",
    ),
    _counted(
        name="code-sql-count",
        wish=(
            "The table staff(name, team) holds ('Ann', 'red'), ('Bo', 'blue'), ('Cy', 'red'), "
            "('Di', 'red'). What does this give: SELECT COUNT(*) FROM staff WHERE team = 'red'? "
            "Answer with the number only."
        ),
        right=3,
        wrong="4",
        why="Three of the four rows are of team red. Wrong: all rows counted.",
    ),
    _chosen(
        name="code-sql-order",
        wish=(
            "The table city(name, people) holds ('Aal', 30), ('Bern', 12), ('Cork', 21). Which name "
            "does SELECT name FROM city ORDER BY people LIMIT 1 give? Answer with the name only."
        ),
        right="Bern",
        wrong="Aal",
        why="ORDER BY sorts upwards, and 12 is the least. Wrong: sorted downwards.",
    ),
    _counted(
        name="code-c-division",
        wish=f'What does this C statement print?\n\nprintf("%d", 17 / 5 * 5);\n\n{NUMBER}',
        right=15,
        wrong="17",
        why="17 / 5 is 3 for integers, and 3 * 5 = 15. Wrong: divided as real numbers.",
    ),
    _counted(
        name="code-c-array",
        wish=f"In C, int a[6] = {{2, 4, 6}}; what is the value of a[0] + a[2] + a[5]? {NUMBER}",
        right=8,
        wrong={"content": "", "finish_reason": "length"},
        why="2 + 6 + 0: what is not initialised in the list is 0. Wrong: cut off.",
    ),
    told(
        "code-bash-pipe",
        "code",
        f"What does this shell command print?\n\nprintf 'b\\na\\nc\\n' | sort | head -n 1\n\n{PRINTED}",
        expect={"regex": r"\A[\s`*]*a[\s`*.]*\Z"},
        right="a",
        wrong="b",
        why="Sorted, a is the first line. Wrong: head without the sort.",
    ),
    _counted(
        name="code-bash-arithmetic",
        wish=f"What does this shell command print?\n\necho $(( 7 % 4 + 10 ))\n\n{NUMBER}",
        right=13,
        wrong="17",
        why="7 % 4 is 3, and 3 + 10 = 13. Wrong: the remainder is not taken.",
    ),
    told(
        "code-java-substring",
        "code",
        'What does "lantern".substring(0, 4) give in Java? Answer with the text only.',
        expect={"regex": r"\A[\s\"'`*]*lant[\s\"'`*.]*\Z"},
        right="lant",
        wrong="lante",
        why="The end index 4 does not belong to it: l, a, n, t. Wrong: it is taken along.",
    ),
    _counted(
        name="code-go-slice",
        wish=f"In Go, s := []int{{3, 5, 7, 9, 11}}. What is len(s[1:4])? {NUMBER}",
        right=3,
        wrong="4",
        why="4 - 1 = 3. Wrong: off by one.",
    ),
    _chosen(
        name="code-rust-keyword",
        wish="Which keyword makes a variable changeable in Rust: let, mut, ref or dyn? Answer with the keyword only.",
        right="mut",
        wrong="let",
        why="`let mut x` declares a variable that may change. Wrong: the word that declares it.",
    ),
    _chosen(
        name="code-regex-match",
        wish=(
            r"Which of these strings does the regular expression ^[a-c]+[0-9]$ match: abc, abc7, dab7, "
            "7abc? Answer with the string only."
        ),
        right="abc7",
        wrong="dab7",
        why="Letters a to c from the start, then one digit at the end. Wrong: the anchor is overlooked.",
    ),
    _counted(
        name="code-http-status",
        wish=f"Which HTTP status code stands for Not Found? {NUMBER}",
        right=404,
        wrong="403",
        why="RFC 9110, section 15.5.5. Wrong: Forbidden.",
    ),
    _counted(
        name="code-hex",
        wish=f"What is the hexadecimal number 0x2F in decimal? {NUMBER}",
        right=47,
        wrong="2F",
        why="2 * 16 + 15 = 47. Wrong: it is repeated.",
    ),
    _counted(
        name="code-binary",
        wish=f"What is the binary number 10110 in decimal? {NUMBER}",
        right=22,
        wrong={"content": "<think>16 + 4 + 2 = 22", "finish_reason": "stop"},
        why="16 + 4 + 2 = 22. Wrong: the reasoning leaks and never ends.",
    ),
    _counted(
        name="code-json-path",
        wish=f'Given {{"a": [{{"b": 4}}, {{"b": 8, "c": [1, 6]}}]}}, what is the value at a[1].c[1]? {NUMBER}',
        right=6,
        wrong="8",
        why="The second item of a has c = [1, 6], whose second item is 6. Wrong: its b.",
    ),
    _word(
        name="code-python-exception",
        wish='Which exception does int("seven") raise in Python? Answer with its name only.',
        right="ValueError",
        wrong="TypeError",
        why="The type is right and the value is not. Wrong: its neighbour.",
    ),
    _counted(
        name="code-bug-line",
        wish=(
            "This function should return the largest number of a list. On which line is the mistake?\n\n"
            "1 def largest(numbers):\n2     best = numbers[0]\n3     for n in numbers:\n"
            f"4         if n < best:\n5             best = n\n6     return best\n\n{NUMBER}"
        ),
        right=4,
        wrong="6",
        why="With < the smallest is kept; it must be >. Wrong: another line.",
    ),
    told(
        "code-write-function",
        "code",
        "Write a Python function named double that returns twice its argument x. Give the code only.",
        expect={
            "regex": r"def double\(x[^)]*\)[^:]*:\s*(?:\"{3}[^\"]*\"{3}\s*)?return (?:2 ?\* ?x|x ?\* ?2|x ?\+ ?x)"
        },
        right="def double(x):\n    return 2 * x",
        wrong="def double(x): return x ** 2",
        why="The name and the argument are given. Wrong: the square.",
    ),
    told(
        "code-html-link",
        "code",
        "Write an HTML link to https://example.com/a?b=1 with the text Home. Give the element only.",
        expect={"regex": r"<a\s+href=[\"']https://example\.com/a\?b=1[\"'][^>]*>\s*Home\s*</a>"},
        right='<a href="https://example.com/a?b=1">Home</a>',
        wrong="&lt;a href=&quot;https://example.com/a?b=1&quot;&gt;Home&lt;/a&gt;",
        why="An element a with href. Wrong: escaped once too often.",
    ),
)
