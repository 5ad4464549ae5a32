"""How the values of a rollout are built: frozen, and of exactly the declared fields and types.

They are pydantic's dataclasses because they come back from a store and from other machines: a
value that does not fit is refused where it is read, not where it is first used.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

STRICT = ConfigDict(extra="forbid", strict=True)

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
