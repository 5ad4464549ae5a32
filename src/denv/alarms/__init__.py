"""Alarms: who each is, what sinks are sent of it, and how that is delivered."""

from denv.alarms.delivery import Attempt, deliver_due, deliver_once, give, resend, wait_s
from denv.alarms.identity import REOPENED_WITHIN_S, identity_of
from denv.alarms.records import Action, Alarm, Sink
from denv.alarms.severity import TEST_KIND, severity_of
from denv.alarms.sinks import make_sink, settings_of, sink_key, sinks_of

__all__ = [
    "REOPENED_WITHIN_S",
    "TEST_KIND",
    "Action",
    "Alarm",
    "Attempt",
    "Sink",
    "deliver_due",
    "deliver_once",
    "give",
    "identity_of",
    "make_sink",
    "resend",
    "settings_of",
    "severity_of",
    "sink_key",
    "sinks_of",
    "wait_s",
]
