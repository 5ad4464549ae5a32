"""Ed25519 keys: a private one in a file of mode 600, a public one that is given away."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

# The library names both in its manual, and does not list them as exported.
from securesystemslib.signer import CryptoSigner, SSlibKey  # type: ignore[attr-defined]

from denv.errors import HarnessError, UsageError

__all__ = [
    "CryptoSigner",
    "SSlibKey",
    "load_public",
    "load_signer",
    "new_key",
    "public_path",
    "public_pem",
]

MOST_BYTES = 10_000


def new_key(path: Path) -> str:
    """Make a key: the private part at ``path``, the public one beside it; give the public PEM.

    Raises
    ------
    UsageError
        There is a file of one of these names: a key is never overwritten.
    HarnessError
        A file cannot be written; then neither part is left behind.
    """
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = _pem(key.public_key())
    beside = public_path(path)
    for each in (path, beside):
        if each.exists():
            raise UsageError(f"{each} is there already: a key is never overwritten")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise HarnessError(f"{error.filename}: {error.strerror}") from error
    _write_new(path, private, 0o600)
    try:
        _write_new(beside, public, 0o644)
    except BaseException:
        path.unlink()  # half a pair would keep the next attempt from its name
        raise
    return public.decode()


def public_path(path: Path) -> Path:
    """Give where the public part of a key lies."""
    return path.with_name(f"{path.stem}.pub")


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that is there whole or not at all, and never in the place of another."""
    whole = False
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise UsageError(f"{path} is there already: a key is never overwritten") from None
    except OSError as error:
        raise HarnessError(f"{path}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(handle)
        whole = True
    except OSError as error:
        raise HarnessError(f"{path}: {error.strerror}") from error
    finally:
        if not whole:  # a full disk leaves an empty file, which would pass for a key
            path.unlink()


def load_signer(path: Path) -> CryptoSigner:
    """Read a private key.

    Raises
    ------
    UsageError
        There is none, others can read it, or it is no Ed25519 key.
    """
    content = _content(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise UsageError(f"{path} can be read by others: chmod 600 it, or make a new key")
    try:
        key = load_pem_private_key(content, password=None)
    except (ValueError, TypeError):
        raise UsageError(f"{path} is no private key in PEM without a password") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(f"{path} is no Ed25519 key")
    return CryptoSigner(key)


def load_public(path: Path) -> SSlibKey:
    """Read a public key, as ``denv key new`` writes it.

    Raises
    ------
    UsageError
        There is none, or it is no public Ed25519 key.
    """
    content = _content(path)
    if b"PRIVATE KEY" in content:
        raise UsageError(f"{path} is a private key: give the public one, {public_path(path)}")
    try:
        key = load_pem_public_key(content)
    except ValueError:
        raise UsageError(f"{path} is no public key in PEM") from None
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(f"{path} is no Ed25519 key")
    return SSlibKey.from_crypto(key)


def public_pem(signer: CryptoSigner) -> str:
    """Give the public part of a private key."""
    raw = bytes.fromhex(signer.public_key.keyval["public"])
    return _pem(Ed25519PublicKey.from_public_bytes(raw)).decode()


def _pem(key: Ed25519PublicKey) -> bytes:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
