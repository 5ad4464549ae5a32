"""Everything that speaks to an endpoint: the seam, HTTP, retries, keys and the preflight."""

from denv.client.endpoint import EndpointClient
from denv.client.http import AiohttpTransport
from denv.client.masking import Masker, mask
from denv.client.preflight import Preflight, Unreachable, preflight
from denv.client.probing import write_probe
from denv.client.secrets import check_url, read_key_env, read_key_file
from denv.client.transport import MAX_BYTES, HttpCall, Transport

__all__ = [
    "MAX_BYTES",
    "AiohttpTransport",
    "EndpointClient",
    "HttpCall",
    "Masker",
    "Preflight",
    "Transport",
    "Unreachable",
    "check_url",
    "mask",
    "preflight",
    "read_key_env",
    "read_key_file",
    "write_probe",
]
