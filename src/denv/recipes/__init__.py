"""Recipes: what the package knows of a model family, one folder each.

A folder holds ``recipe.yaml``, the suite it names, the golden prompts where there are some, and
``answers.jsonl``: a right and a wrong answer for each of their cases.
"""

from denv.recipes.answers import Answers, ScriptedCall, ScriptedMessage, load_answers
from denv.recipes.completions import completion
from denv.recipes.finding import Broken, is_path, load, load_all, named, names
from denv.recipes.loading import Adapter, Recipe, load_folder

__all__ = [
    "Adapter",
    "Answers",
    "Broken",
    "Recipe",
    "ScriptedCall",
    "ScriptedMessage",
    "completion",
    "is_path",
    "load",
    "load_all",
    "load_answers",
    "load_folder",
    "named",
    "names",
]
