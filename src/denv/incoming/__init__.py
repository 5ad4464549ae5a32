"""What callers send, for router and adapter: read within bounds, refused in an API's own form."""

from denv.incoming.body import Body, BodyError, receive
from denv.incoming.listener import Listener

__all__ = ["Body", "BodyError", "Listener", "receive"]
