"""Other tools' files as suites: pure readers, one a format, that list what they leave behind."""

from denv.suite.imports.gathering import Imported, Leftover, UncarriedError
from denv.suite.imports.inspect_files import open_archive, open_json
from denv.suite.imports.inspect_logs import read_inspect
from denv.suite.imports.kvv import read_kvv
from denv.suite.imports.openai_evals import read_openai_evals
from denv.suite.imports.promptfoo import read_promptfoo
from denv.suite.imports.yaml_values import load_yaml

__all__ = [
    "Imported",
    "Leftover",
    "UncarriedError",
    "load_yaml",
    "open_archive",
    "open_json",
    "read_inspect",
    "read_kvv",
    "read_openai_evals",
    "read_promptfoo",
]
