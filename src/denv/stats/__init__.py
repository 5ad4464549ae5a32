"""Statistics, one method a file. They know numpy and scipy, and no other part of the package."""
