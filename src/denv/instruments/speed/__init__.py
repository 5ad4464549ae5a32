"""How fast an endpoint answers: by context depth, draft length and concurrency. No verdict."""

from denv.instruments.speed.asking import Ask, Mark, Streamed
from denv.instruments.speed.bench import Speed
from denv.instruments.speed.servers import Target

__all__ = ["Ask", "Mark", "Speed", "Streamed", "Target"]
