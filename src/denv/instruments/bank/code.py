"""Prompts for code in many programming languages: writing, mending, explaining, translating."""

from __future__ import annotations

from denv.instruments.bank.prompt import Prompt, asked

CATEGORY = "code"
MAX_TOKENS = 96

_BROKEN_PYTHON = """\
def running_mean(values, width):
    means = []
    for at in range(len(values)):
        window = values[at - width:at]
        means.append(sum(window) / len(window))
    return means
"""

_BROKEN_C = """\
char *joined(const char *left, const char *right) {
    char buffer[256];
    strcpy(buffer, left);
    strcat(buffer, right);
    return buffer;
}
"""

_SLOW_SQL = """\
SELECT name FROM members
WHERE id NOT IN (SELECT member_id FROM loans WHERE returned_on IS NULL)
ORDER BY name;
"""

_JAVASCRIPT = """\
for (var i = 0; i < 3; i++) {
  setTimeout(() => console.log(i), 10);
}
"""

_GO = """\
results := make(chan int)
for _, job := range jobs {
    go func() { results <- work(job) }()
}
for result := range results {
    fmt.Println(result)
}
"""

_RUST = """\
fn longest(left: &str, right: &str) -> &str {
    if left.len() > right.len() { left } else { right }
}
"""

_ASKED = {
    "python-intervals": "Write a Python function that merges overlapping closed intervals, given "
    "as pairs of integers in any order. Code only.",
    "javascript-loop": f"What does this JavaScript print, and why?\n\n```js\n{_JAVASCRIPT}```",
    "rust-lifetime": f"This Rust does not compile. Say why and mend it.\n\n```rust\n{_RUST}```",
    "go-deadlock": f"This Go program never ends. Find out why and mend it.\n\n```go\n{_GO}```",
    "c-buffer": f"What is wrong with this C function?\n\n```c\n{_BROKEN_C}```",
    "sql-open-loans": f"The table loans has some ten million rows. Rewrite this query so that it "
    f"stays quick and right when member_id can be NULL.\n\n```sql\n{_SLOW_SQL}```",
    "java-stack": "Write a generic, bounded stack class in Java that throws when it is full or "
    "empty. No imports.",
    "bash-largest": "Write a Bash one-liner that lists the five largest files below the current "
    "folder, with sizes that people can read. File names may hold blanks.",
    "typescript-pick": "Write a TypeScript function that takes an object and a list of its keys "
    "and gives an object of those keys alone, with the most exact type there is.",
    "haskell-runs": "Write a Haskell function that turns a list into runs: equal neighbours "
    "become a pair of the element and how often it stands there. Give its type.",
    "kotlin-cache": "Write a small least-recently-used cache in Kotlin on top of LinkedHashMap.",
    "cpp-swap": "In C++, why should a move constructor be marked noexcept? Show a class that "
    "profits from it.",
    "python-mean": f"This should give the mean of the last `width` values at each place. Find "
    f"both mistakes.\n\n```python\n{_BROKEN_PYTHON}```",
    "javascript-debounce": "Write a debounce function in JavaScript that also lets its caller "
    "cancel the pending call.",
    "rust-words": "Write a Rust program that reads text from standard input and prints the ten "
    "most frequent words with their counts.",
    "go-middleware": "Write an HTTP middleware in Go that logs method, path, status and duration.",
    "c-endian": "Write a C function that reads a 32-bit big-endian unsigned integer from four "
    "bytes without undefined behaviour.",
    "sql-gaps": "A table readings(taken_on date, value real) should have a row for each day. "
    "Write SQL that lists the days between the first and the last that are missing.",
    "java-streams": "Using Java streams, group a list of orders by customer and give each "
    "customer's total, largest first.",
    "bash-retry": "Write a Bash function that runs a command up to five times, waiting twice as "
    "long after each failure.",
    "python-regex": "Write a regular expression in Python for a date like 2031-02-09 with named "
    "groups, and say which impossible dates it still lets through.",
    "ruby-translate": "Translate to Ruby, in its own manner: `squares = [n * n for n in "
    "range(1, 21) if n % 3 == 0]; print(sum(squares))`",
    "lisp-flatten": "Write a function in Scheme that flattens a nested list, without set!.",
    "assembly-explain": "Explain what this x86-64 function computes, line by line:\n\n"
    "```\nf:\n    xor eax, eax\n.L1:\n    test rdi, rdi\n    je .L2\n    lea rcx, [rdi-1]\n"
    "    and rdi, rcx\n    inc eax\n    jmp .L1\n.L2:\n    ret\n```",
}  # fmt: skip


def prompts() -> tuple[Prompt, ...]:
    """Give the prompts of this category."""
    return tuple(asked(CATEGORY, *item, max_tokens=MAX_TOKENS) for item in _ASKED.items())
