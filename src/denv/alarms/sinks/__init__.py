"""The sinks, one a file, and what makes them out of a release's settings."""

from denv.alarms.sinks.making import make_sink, settings_of, sink_key, sinks_of

__all__ = ["make_sink", "settings_of", "sink_key", "sinks_of"]
