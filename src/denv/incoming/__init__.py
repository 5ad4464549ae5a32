"""What callers send, for router and adapter: read within bounds, refused in an API's own form."""

from denv.incoming.body import Body, BodyError, receive
from denv.incoming.bounds import Bounds, room_for
from denv.incoming.listener import Listener, Runner

__all__ = ["Body", "BodyError", "Bounds", "Listener", "Runner", "receive", "room_for"]
