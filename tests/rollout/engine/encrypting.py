"""Certificates made on the spot, and a proxy that puts TLS before a plain server."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from contextlib import asynccontextmanager, suppress
from pathlib import Path


class Authority:
    """An authority with a folder of its own, by openssl."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir()
        self._folder, self.certificate = folder, folder / "ca.pem"
        self._key = folder / "ca.key"
        _openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "1", "-subj", f"/CN={name}"),
            *("-keyout", str(self._key), "-out", str(self.certificate)),
        )

    def issue(self, name: str, *, server: bool) -> tuple[Path, Path]:
        """Give a certificate and its key, for 127.0.0.1 where it is a server's."""
        files = {kind: self._folder / f"{name}.{kind}" for kind in ("key", "csr", "pem", "ext")}
        use = "serverAuth\nsubjectAltName=IP:127.0.0.1" if server else "clientAuth"
        files["ext"].write_text(f"basicConstraints=CA:FALSE\nextendedKeyUsage={use}\n")
        _openssl(
            *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", f"/CN={name}", "-keyout", str(files["key"]), "-out", str(files["csr"])),
        )
        _openssl(
            *("x509", "-req", "-days", "1", "-in", str(files["csr"])),
            *("-CA", str(self.certificate), "-CAkey", str(self._key), "-CAcreateserial"),
            *("-extfile", str(files["ext"]), "-out", str(files["pem"])),
        )
        return files["pem"], files["key"]


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@asynccontextmanager
async def encrypted(address, authority, *, clients=None, heard=None):
    """Give the address of a proxy with TLS before a server, and the protocols it agreed on.

    ``clients`` is the authority of those who may come; without it nobody is asked. ``heard``
    takes what clients say, as the proxy hands it on.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("server", server=True))
    context.set_alpn_protocols(["h2"])
    if clients is not None:
        context.load_verify_locations(clients.certificate)
        context.verify_mode = ssl.CERT_REQUIRED
    host, _, port = address.rpartition(":")
    agreed, carrying = [], set()

    async def serve(reader, writer):
        task = asyncio.current_task()
        carrying.add(task)
        agreed.append(writer.get_extra_info("ssl_object").selected_alpn_protocol())
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        try:
            both = (_carry(reader, inner_writer, heard), _carry(inner_reader, writer))
            await asyncio.gather(*both)
        except asyncio.CancelledError:
            pass  # the block is over, whatever clients still keep open
        finally:
            inner_writer.transport.abort()
            writer.transport.abort()
            carrying.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", agreed
    finally:
        server.close()
        left = [task for task in carrying if task is not None]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.sleep(0.05)  # transports close in the loop's next rounds


async def _carry(reader, writer, heard=None):
    with suppress(ConnectionError, ssl.SSLError):
        while data := await reader.read(65536):
            if heard is not None:
                heard += data
            writer.write(data)
            await writer.drain()
        writer.close()


SIX_BITS = " %-./3456789=A_bdfghlmnpru"
CODES = {
    **{character: f"{code:05b}" for code, character in enumerate("012aceiost")},
    **{character: f"{code:06b}" for code, character in enumerate(SIX_BITS, 20)},
    "B": "1011101",
}
"""The short codes of HTTP/2's headers (RFC 7541, appendix B)."""


def in_headers(text: str) -> bytes:
    """Write a header's value as HTTP/2 sends it: coded, and filled up with ones."""
    bits = "".join(CODES[character] for character in text)
    bits += "1" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")
