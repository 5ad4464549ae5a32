"""Samples of an Inspect log are asked as they were, and compared as their scorer compared."""

import io
import json
import struct
import tracemalloc
import zipfile

import pytest
import regex

from denv.errors import UsageError
from denv.records import Contains, Regex
from denv.suite.imports import gathering, inspect_files, open_archive, open_json, read_inspect


def header(*scorers, **changes):
    listed = [{"name": name, "options": options} for name, options in scorers]
    return {
        "version": 2,
        "status": "success",
        "eval": {"task": "demo/capitals", "model": "m", "scorers": listed},
        "plan": {"steps": [{"solver": "generate", "params": {}}], "config": {}},
        **changes,
    }


def sample(**changes):
    return {
        "id": 1,
        "epoch": 1,
        "input": "Capital of France?",
        "target": "Paris",
        "messages": [
            {"role": "system", "content": "One word.", "source": None},
            {"role": "user", "content": "Capital of France?", "source": "input"},
            {"role": "assistant", "content": "Paris", "source": "generate"},
        ],
        **changes,
    }


def read(log, *samples):
    return read_inspect(log, samples, source="log.json")


INCLUDES = header(("includes", {}))


def whys(imported):
    return [each.why for each in imported.leftovers if each.case]


def test_what_was_asked_is_asked():
    """The messages up to the model's answer are the case's, with the solvers' system message."""
    (case,) = read(INCLUDES, sample()).cases
    assert case.id == "capitals-1"
    assert case.fields["messages"] == [
        {"role": "system", "content": "One word."},
        {"role": "user", "content": "Capital of France?"},
    ]


@pytest.mark.parametrize(
    ("scorer", "target", "answers"),
    [
        (("includes", {}), "Paris", {"It is paris.": True, "Lyon": False}),
        (("includes", {}), ["Rome", "Roma"], {"ROMA": True, "Milan": False}),
        (("match", {}), "Paris", {"It is PARIS!": True, "Paris it is": False}),
        (("match", {"location": "begin"}), "Paris", {"**Paris**, yes": True, "In Paris": False}),
        (("match", {"location": "exact"}), "Paris.", {" paris ": True, "Paris is": False}),
        (("match", {"location": "any"}), "Paris", {"in Paris now": True, "Lyon": False}),
        (("match", {"ignore_case": False}), "Paris", {"Paris": True, "paris": False}),
        (("inspect_ai/match", {}), ["4", "four"], {"It is four": True, "five": False}),
    ],
)
def test_scorers_become_patterns(scorer, target, answers):
    """Case, place and the punctuation around an answer count as the scorer counts them."""
    (case,) = read(header(scorer), sample(target=target)).cases
    assert isinstance(case.check, Regex)
    for answer, passes in answers.items():
        assert (regex.search(case.check.pattern, answer) is not None) is passes, answer


def test_exact_containment_is_a_contains_case():
    """One target in its own case needs no pattern."""
    log = header(("includes", {"ignore_case": False}))
    assert read(log, sample()).cases[0].check == Contains("Paris")


def test_the_first_scorer_that_can_be_carried_decides():
    """Others are named; without any the samples are left behind."""
    found = read(header(("model_graded_qa", {}), ("includes", {})), sample())
    assert len(found.cases) == 1
    assert [each.where for each in found.leftovers] == [
        "log.json: field scorer model_graded_qa, in 1"
    ]
    none = read(header(("match", {"numeric": True})), sample())
    assert whys(none) == ["no scorer can be carried over: match"]


def test_old_logs_name_their_scorer_among_the_results():
    """A log without a list of scorers names them with its results."""
    log = {
        "eval": {"task": "t"},
        "results": {"scores": [{"name": "accuracy", "scorer": "includes", "params": {}}]},
    }
    old = sample(messages=[{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}])
    (case,) = read(log, old).cases
    assert case.fields["messages"] == [{"role": "user", "content": "Q"}]


def test_a_sample_without_messages_is_asked_by_its_input():
    """Its input is a question or a conversation."""
    talk = [{"role": "user", "content": [{"type": "text", "text": "a"}]}]
    first, second = read(INCLUDES, sample(messages=[]), sample(id=2, messages=[], input=talk)).cases
    assert first.fields["messages"][0]["content"] == "Capital of France?"
    assert second.fields["messages"] == [{"role": "user", "content": "a"}]


def test_calls_before_the_answer_are_written_as_the_api_has_them():
    """An example with a tool's use in the prompt is carried in the API's own form."""
    messages = [
        {"role": "user", "content": "Q", "source": "input"},
        {
            "role": "assistant",
            "content": "",
            "source": "input",
            "tool_calls": [
                {"id": "c1", "function": "add", "arguments": {"a": 1}, "type": "function"}
            ],
        },
        {"role": "tool", "content": "2", "tool_call_id": "c1", "function": "add"},
        {"role": "assistant", "content": "two", "source": "generate"},
    ]
    (case,) = read(INCLUDES, sample(messages=messages)).cases
    assert case.fields["messages"][1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    ]
    assert case.fields["messages"][2] == {"role": "tool", "content": "2", "tool_call_id": "c1"}


GENERATED = {"role": "assistant", "content": "x", "source": "generate"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"target": ""}, "no target"),
        ({"target": []}, "no target"),
        ({"messages": [*sample()["messages"], GENERATED]}, "answers 2 times"),
        ({"messages": [*sample()["messages"], {"role": "user", "content": "more"}]}, "goes on"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "image": "x"}]}]},
            "holds image",
        ),
        ({"messages": [{"role": "user", "content": "attachment://0f"}]}, "not in the log"),
        ({"messages": None, "input": None}, "has no input"),
        (
            {"messages": [{"role": "tool", "content": "x"}, {"role": "assistant", "content": "y"}]},
            "does not say which answers",
        ),
    ],
)
def test_what_a_case_cannot_be_is_listed(changes, why):
    """Several turns, pictures, missing parts and targets: the sample is named with its reason."""
    found = read(INCLUDES, sample(**changes))
    assert found.cases == ()
    assert found.leftovers[0].where == "log.json: sample 1"
    assert why in whys(found)[0]


def test_attachments_are_put_back():
    """A long text that was kept apart stands in its place again."""
    asked = [{"role": "user", "content": "attachment://0f", "source": "input"}]
    (case,) = read(INCLUDES, sample(messages=asked, attachments={"0f": "long"})).cases
    assert case.fields["messages"][0]["content"] == "long"


def test_epochs_are_asked_once():
    """Later epochs ask the same again, and are counted."""
    found = read(INCLUDES, sample(), sample(epoch=2), sample(epoch=3))
    assert len(found.cases) == 1
    assert [each.where for each in found.leftovers] == ["log.json: field epoch, in 2"]


def test_the_first_epoch_that_is_there_is_carried():
    """A log of a later epoch alone loses no sample, and of two the first that comes is taken."""
    found = read(INCLUDES, sample(epoch=2), sample(id=2, epoch=3), sample(id=2, epoch=1))
    assert [case.id for case in found.cases] == ["capitals-1", "capitals-2"]
    assert [each.where for each in found.leftovers] == ["log.json: field epoch, in 1"]


def test_what_is_no_sample_is_left_behind():
    """Whatever stands among the samples is a case or is listed."""
    text = json.dumps({**INCLUDES, "samples": [sample(), 7, None, "text"]})
    found = read_inspect(*open_json(text, source="a"), source="a")
    assert len(found.cases) == 1
    assert [each.where for each in found.leftovers if each.case] == [
        f"a: the sample in place {number}" for number in (2, 3, 4)
    ]


def test_a_sample_whose_id_has_a_line_break_is_read():
    """Its entry's name holds the break as it is."""
    zipped = archive({"header.json": INCLUDES, "samples/a\nb_epoch_1.json": sample(id="a\nb")})
    found = read_inspect(*open_archive(zipped, source="a"), source="a")
    assert [case.id for case in found.cases] == ["capitals-a-b"]


def test_cases_beyond_what_memory_holds_are_refused(monkeypatch):
    """A small archive may hold very long prompts."""
    monkeypatch.setattr(gathering, "MAX_BYTES", 1000)
    with pytest.raises(UsageError, match="its cases are larger than"):
        read(INCLUDES, *(sample(id=number) for number in range(20)))


def test_settings_of_the_generation_are_carried_or_counted():
    """The limit and the stops are a case's own; others are told."""
    log = header(("includes", {}))
    log["plan"]["config"] = {"max_tokens": 32, "temperature": 0.5, "stop_seqs": ["\n"]}
    found = read(log, sample())
    assert (found.cases[0].fields["max_tokens"], found.cases[0].fields["stop"]) == (32, ["\n"])
    assert [each.where for each in found.leftovers] == ["log.json: field temperature, in 1"]


def archive(entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, value in entries.items():
            zipped.writestr(name, json.dumps(value))
    file.seek(0)
    return file


def test_both_forms_of_a_log_are_read():
    """One JSON document, with NaN among its metrics, and a zip archive hold the same samples."""
    samples = [sample(id=number) for number in (2, 10, 1)]
    text = json.dumps({**INCLUDES, "samples": samples, "results": {"value": float("nan")}})
    plain = read_inspect(*open_json(text, source="a"), source="a")
    entries = {f"samples/{each['id']}_epoch_1.json": each for each in samples}
    zipped = archive({"header.json": INCLUDES, "summaries.json": [], **entries})
    packed = read_inspect(*open_archive(zipped, source="a"), source="a")
    assert [case.id for case in plain.cases] == ["capitals-2", "capitals-10", "capitals-1"]
    assert [case.id for case in packed.cases] == ["capitals-1", "capitals-2", "capitals-10"]


@pytest.mark.parametrize("name", ["_journal/start.json", "start.json"])
def test_unfinished_and_old_archives_are_read(name):
    """What is said of all samples may stand in the journal, or where old logs had it."""
    zipped = archive({name: INCLUDES, "samples/1_epoch_1.json": sample()})
    assert len(read_inspect(*open_archive(zipped, source="a"), source="a").cases) == 1


@pytest.mark.parametrize(
    ("file", "why"),
    [
        (io.BytesIO(b"PK no zip"), "not a zip archive"),
        (archive({"other.json": {}}), "no log of Inspect"),
        (archive({"header.json": [1]}), "header.json: not a JSON object"),
    ],
)
def test_what_is_no_archive_is_an_error(file, why):
    """Each says what is wrong with the file."""
    with pytest.raises(UsageError, match=why):
        open_archive(file, source="log.eval")


@pytest.mark.parametrize(
    "compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_damaged_archive_is_an_error_in_any_compression(compression):
    """Whichever of its bytes is another one, it is read or refused, and nothing else happens."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as zipped:
        zipped.writestr("header.json", json.dumps(INCLUDES))
        zipped.writestr("samples/1_epoch_1.json", json.dumps(sample()))
    whole, refused = file.getvalue(), []
    for at in range(len(whole)):
        damaged = io.BytesIO(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        try:
            read_inspect(*open_archive(damaged, source="log.eval"), source="log.eval")
        except UsageError as error:
            refused.append(str(error))
    assert len(refused) > len(whole) / 2
    assert all(why.startswith("log.eval: ") for why in refused)


def test_an_epoch_beyond_measure_is_no_sample():
    """The names of an archive's entries are whoever's who wrote it."""
    zipped = archive({"header.json": INCLUDES, f"samples/1_epoch_{'9' * 5000}.json": sample()})
    assert read_inspect(*open_archive(zipped, source="a"), source="a").cases == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"eval": {"scorers": 5}},
        {"eval": {"scorers": "match"}},
        {"eval": {"scorers": [5, {"name": ["match"], "options": 5}]}},
        {"eval": {"scorers": [{"name": "match", "options": {"location": {"a": []}}}]}},
        {"results": {"scores": 7}, "eval": {}},
    ],
)
def test_scorers_of_another_shape_carry_nothing(changes):
    """What names no scorer in a form that logs have is none."""
    (why,) = whys(read(header(**changes), sample()))
    assert why.startswith("no scorer can be carried over")


def test_half_a_character_is_left_behind():
    """A lone surrogate is told and not replaced, since the case would be another one."""
    assert whys(read(INCLUDES, sample(target="\ud800"))) == [
        "expect.regex: a lone surrogate, which is no character"
    ]


def test_a_compression_that_cannot_be_read_says_what_to_do():
    """An archive in a compression that this Python lacks names the way around it."""
    raw = bytearray(archive({"header.json": INCLUDES}).getvalue())
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = raw.index(mark) + at
        raw[place : place + 2] = (98).to_bytes(2, "little")  # PPMd, which no Python reads
    with pytest.raises(UsageError, match="inspect log convert"):
        open_archive(io.BytesIO(bytes(raw)), source="log.eval")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"samples": []}', "no log of Inspect"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_document_is_an_error(text, why):
    """Each says what is wrong with the file."""
    with pytest.raises(UsageError, match=why):
        open_json(text, source="log.json")


def packed_log(entries, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in entries:
            made.writestr(name, content)
    return file


HEAD = ("header.json", json.dumps(INCLUDES))


def of_size(file, name, size):
    """Have an archive's list tell another size of an entry."""
    with zipfile.ZipFile(file) as made:
        real = made.getinfo(name).file_size
    raw = file.getvalue()
    at = raw.rindex(b"PK\1\2", 0, raw.rindex(name.encode()))
    assert struct.unpack_from("<I", raw, at + 24) == (real,)
    return io.BytesIO(raw[: at + 24] + struct.pack("<I", size) + raw[at + 28 :])


def read_archive(file):
    return read_inspect(*open_archive(file, source="log.eval"), source="log.eval")


@pytest.mark.parametrize(
    ("bound", "value", "why"),
    [
        ("MAX_BYTES", 300, "log.eval: its samples are larger than 0 GiB in all"),
        ("MAX_ENTRY_BYTES", 100, "is larger than 0 MiB"),
        ("MAX_ENTRIES", 2, "log.eval: it has more than 2 entries"),
        ("MAX_DIRECTORY_BYTES", 50, "log.eval: its list of entries is larger than 0 MiB"),
    ],
)
def test_what_an_archive_holds_is_bounded(monkeypatch, bound, value, why):
    """All together, each alone, and how many: told before anything is unpacked."""
    samples = [(f"samples/{n}_epoch_1.json", json.dumps(sample(id=n))) for n in (1, 2)]
    assert len(read_archive(packed_log([HEAD, *samples])).cases) == 2
    monkeypatch.setattr(inspect_files, bound, value)
    with pytest.raises(UsageError, match=why):
        read_archive(packed_log([HEAD, *samples]))


def test_what_is_packed_too_well_is_refused():
    """A few kilobytes that say they are a hundred megabytes are not unpacked."""
    bomb = packed_log([HEAD, ("samples/1_epoch_1.json", b"{}")])
    with pytest.raises(UsageError, match="packed more than 1000 times"):
        read_archive(of_size(bomb, "samples/1_epoch_1.json", 100_000_000))


def test_a_size_that_is_a_lie_is_found():
    """No more than the size is unpacked, and what came then is not what was packed."""
    bomb = packed_log([HEAD, ("samples/1_epoch_1.json", b" " * 200_000_000)])
    lying = of_size(bomb, "samples/1_epoch_1.json", 10)
    tracemalloc.start()
    with pytest.raises(UsageError, match="cannot be read"):
        read_archive(lying)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_stands_once():
    """Of two entries with one name nobody can say which is meant."""
    twice = [("samples/1_epoch_1.json", json.dumps(sample()))] * 2
    with pytest.raises(UsageError, match="two of its entries have the same name"):
        read_archive(packed_log([HEAD, *twice]))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_not_read(method):
    """Inspect writes deflate and zstd; others cannot be unpacked in pieces of a bounded size."""
    file = packed_log([HEAD, ("samples/1_epoch_1.json", json.dumps(sample()))], method)
    with pytest.raises(UsageError, match="compressed in a way that cannot be read"):
        read_archive(file)
