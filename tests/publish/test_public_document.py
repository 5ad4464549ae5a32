"""The public document: an allow-list, whatever the run's own report holds."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from denv.errors import UsageError
from denv.publish.folder import write_folder
from denv.publish.hiding import Hiding
from denv.publish.page import render
from denv.report import Report
from denv.schemas import schema
from tests import suites
from tests.publish import samples
from tests.report import samples as runs

MARK = "leaked-value"


def marked(value):
    """Put a mark beside everything that a document has: no list of what may be told names it."""
    if isinstance(value, dict):
        return {MARK: MARK, **{key: marked(each) for key, each in value.items()}}
    return [marked(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["passing", "failing", "inconclusive", "hostile"])
def test_every_report_follows_the_schema(tmp_path, name):
    """Head and all cases are of the form that is shipped, and the JSON is strict."""
    report = samples.public(tmp_path, getattr(runs, name)())
    write_folder(report, tmp_path / "out", signer=None)
    document = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    Draft202012Validator(schema("public-1")).validate(document)
    assert len(document["cases"]) == len(list(getattr(runs, name)().cases()))


def test_what_the_list_does_not_name_is_not_told(tmp_path):
    """Unknown fields anywhere in a run's report are not in the public one."""
    whole = samples.with_private(runs.failing())
    whole = Report({**whole.head, "noise": runs.noise()}, whole.cases)
    head = {key: marked(value) for key, value in whole.head.items()}
    for name in ("kinds", "checks", "causes"):
        head[name] = {key: marked(value) for key, value in whole.head[name].items()}
    head["gaming"]["catches"].pop(MARK)
    for side in ("stage", "reference"):
        for name in ("kinds", "identical"):
            head["noise"][side][name].pop(MARK)
    cases = [marked(case) for case in whole.cases()]
    for case in cases:  # an argument may have any name
        for side in ("stage", "reference"):
            for call in case[side]["tool_calls"]:
                call["arguments"] = {}
    report = samples.public(tmp_path, Report(head, lambda: iter(cases)))
    assert MARK not in json.dumps([report.head, list(report.cases())])
    assert "http" not in json.dumps([report.head["stage"], report.head["reference"]])


def test_the_page_is_a_function_of_the_document(tmp_path):
    """Made again of the file alone it is the same to the last byte."""
    report = samples.full(tmp_path)
    write_folder(report, tmp_path / "out", signer=None)
    document = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    again = render(Report.of(document))
    assert again == render(report) == (tmp_path / "out" / "index.html").read_text("utf-8")


def test_a_run_from_before_the_log_says_so(tmp_path):
    """A run that the log does not hold claims no number."""
    report = samples.public(tmp_path, runs.passing(), place=None)
    assert report.head["log"] is None
    assert "log does not hold this run" in render(report)


def test_search_engines_are_kept_out_unless_let_in(tmp_path):
    """The page asks not to be listed; where its publisher wants that it does not ask."""
    assert 'content="noindex"' in render(samples.public(tmp_path, runs.passing()))
    assert "noindex" not in render(samples.public(tmp_path, runs.passing(), indexed=True))


def test_a_cancelled_run_is_not_published(tmp_path):
    """What was interrupted proves nothing."""
    report = runs.passing()
    head = {**report.head, "verdict": "cancelled"}
    with pytest.raises(UsageError, match="was interrupted"):
        samples.public(tmp_path, Report(head, report.cases))


SENTENCES = {
    "HTTP 503: http://u:p@a.example/v1?key=1 is down": "HTTP 503: [url] is down",
    "cannot connect to host gpu-7:8000": "cannot connect to host [host]",
    "ask db1.rack3.prod-2.internal.": "ask [host].",
    "10.1.2.3, 10.1.2.3:80 and 10.0.0.0/8": "[address], [address] and [address]",
    "fe80::1%eth0, [2001:db8::1]:80, ::1": "[address], [address], [address]",
    "Authorization: Bearer abcdefgh12": "Authorization: Bearer [key]",
    "authorization=abcdefgh12": "authorization=[key]",
    "'api_key': 'abcd1234'": "'api_key': '[key]'",
    "Incorrect API key: sk-proj-abcdefgh1234": "Incorrect API key: [key]",
    "token 0123456789abcdef0123456789abcdef": "token [key]",
    "no file /srv/models/a.gguf, C:\\models\\a": "no file [path], [path]",
    "write to a.b@c.example": "write to [mail]",
    "replica east-1: 3 of 4": "a replica: 3 of 4",
    "https://stage.example:8443/v1 says no": "[host] says no",
    "host STAGE.example": "host [host]",
}
PLAIN = (
    "exact: 73 of 77 pass (94.8 %), below the threshold of 95 %",
    "differs at character 12: 'a' and not 'b'",
    "argument city.name is London, not Paris; see json.loads",
    "at 12:30:45, 1/2 of org/model-8B-Instruct answered and/or failed",
    "tools[0].function.parameters: no object",
    'the text does not contain "391"',
)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_places_and_keys_are_cut_out_of_sentences(sentence):
    """What a server says of hosts, addresses, files and keys is told by its sort alone."""
    hiding = Hiding(["https://stage.example:8443/v1", "stage.example"], replicas=["east-1"])
    assert hiding.sentence(sentence) == SENTENCES[sentence]


@pytest.mark.parametrize("sentence", PLAIN)
def test_other_sentences_stay(sentence):
    """Sentences of the checks themselves are told as they are."""
    assert Hiding(["stage.example"], replicas=["a"]).sentence(sentence) == sentence


NAMES = {
    "/models/x/Llama-3.gguf": "Llama-3.gguf",
    "~/models/a.gguf": "a.gguf",
    "C:\\models\\a.gguf": "a.gguf",
    "org/Model-480B-A35B-Instruct-1M-GGUF:UD": "org/Model-480B-A35B-Instruct-1M-GGUF:UD",
    "vllm 0.8.5": "vllm 0.8.5",
    "https://host.example/m": "[url]",
    "chat.prod.internal": "[host]",
    "core.dev.jsonl": "core.dev.jsonl",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_lose_their_folders_and_hosts(name):
    """A model that is named by its file is told without the folder; other names stay."""
    assert Hiding().name(name) == NAMES[name]


def test_the_places_of_a_run_are_cut_out_of_answers():
    """Hosts of both sides and of replicas are cut wherever they stand; loopback names may stay."""
    hiding = Hiding.of(
        {
            "stage": {"url": "http://127.0.0.1:8080/v1", "replicas": [["a", "http://gpu-1:9/v1"]]},
            "reference": {"url": "https://u:p@api.secret.example/v1"},
        }
    )
    said = {"text": "I run on GPU-1, 127.0.0.1:8080, api.secret.example; localhost is 127.0.0.1"}
    assert hiding.anywhere(said) == {
        "text": "I run on [host], [host], [host]; localhost is 127.0.0.1"
    }


def test_a_host_that_is_a_word_stays_one_in_answers():
    """A host called ``chat`` is cut out of what servers say, and not of every text."""
    hiding = Hiding.of({"stage": {"url": "http://chat:8000/v1"}})
    assert hiding.sentence("cannot connect to chat") == "cannot connect to [host]"
    assert hiding.answer("Let us chat at chat:8000.") == "Let us chat at [host]."
    assert hiding.name("chat-7b") == "chat-7b"


@pytest.mark.parametrize("name", ["index.html", "suite.jsonl", "report.json"])
def test_files_of_others_are_left_alone(tmp_path, name):
    """A folder with a file of such a name that is no earlier report is refused, and kept."""
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")
    with pytest.raises(UsageError, match=f"has its own {name}"):
        write_folder(samples.public(tmp_path, runs.passing()), out, signer=None)
    assert [path.read_text() for path in out.iterdir()] == ["mine"]


def test_an_earlier_report_is_replaced_whole(tmp_path):
    """No suite and no signature of the report before stay beside the new one."""
    out = tmp_path / "out"
    suite = suites.load(tmp_path, suites.numbered(200))
    report = samples.public(tmp_path, runs.failing())
    write_folder(report, out, signer=None, suite=suite)
    assert (out / "suite.jsonl").exists()
    (out / "report.intoto.json").write_text("old")
    write_folder(report, out, signer=None)
    assert {path.name for path in out.iterdir()} == {"report.json", "index.html", "badge.svg"}
