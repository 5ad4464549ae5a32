"""Recipes: what the package knows of a model family, one folder each.

A folder holds ``recipe.yaml``, the suite it names, and the golden prompts where there are some.
"""

from denv.recipes.loading import Recipe, load, names

__all__ = ["Recipe", "load", "names"]
