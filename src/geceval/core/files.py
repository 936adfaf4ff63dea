"""Text files: decoding with errors that name the line, and writing that leaves nothing half-written."""

import csv
import errno
import gzip
import hashlib
import io
import json
import os
import secrets
import sys
import zlib
from pathlib import Path
from typing import Any

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, counted

ASSETS = Path(__file__).resolve().parents[1] / "assets"
"""The bundled weights, the pipeline and the example corpus."""

_PACKED = {b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
_UNPACKED = 1 << 26  # bytes that any gzip file may unpack to
_TIMES = 100  # beyond them, at most so many times its size: texts come to 3 to 10 times


def expanded(path: str | os.PathLike[str]) -> Path:
    """A path whose `~` or `~user` stands for a home folder."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InputError(f"{os.fspath(path)}: no home folder is known for its first part; write it out") from error


def read_text(path: str | Path) -> str:
    """The text of a UTF-8 file, without a byte order mark; line ends are left as they are."""
    data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    if str(path).endswith(".gz"):
        data = _unpacked(path, data)
    kind = next((kind for start, kind in _PACKED.items() if data.startswith(start)), None)
    if kind:
        raise InputError(f"{path}: packed by {kind}, of packed files only .gz is read; unpack it first")
    if 3 * data.count(b"\0") > len(data):
        raise InputError(f"{path}: UTF-16 or a binary file; convert it to UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not valid UTF-8; convert the file to UTF-8") from error


def split_lines(text: str) -> list[str]:
    """The lines of a text, without their ends: `\n` or `\r\n`."""
    # `str.splitlines` also ends lines at U+0085, U+2028 and form feeds, which occur within sentences of learners.
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


def _unpacked(path: str | Path, data: bytes) -> bytes:
    """The content of a gzip file, which may be several such files in a row."""
    most = max(_UNPACKED, _TIMES * len(data))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            content = file.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not a valid gzip file ({error})") from error
    if len(content) > most:  # a few kilobytes of such a file could fill the memory
        raise InputError(f"{path}: unpacks to more than {_TIMES} times its size; if that is right, unpack it first")
    return content


def read_lines(path: str | Path) -> list[str]:
    """Read one sentence a line from a UTF-8 text file."""
    # Trailing white space (so also CRLF) is removed; blank lines are kept as empty sentences; only `\n` ends a line.
    return [line.rstrip() for line in split_lines(read_text(path))]


def read_parallel(path: str | Path, partner: str | Path, expected: int) -> list[str]:
    """Read a file that belongs line by line to another, such as the output of a system; see `read_lines`."""
    lines = read_lines(path)
    if len(lines) != expected:
        raise InputError(
            f"{path} has {counted(len(lines), 'line')} but {partner} has {expected:,}; they must be parallel"
        )
    return lines


def read_csv(path: str | Path, delimiters: str = ",") -> tuple[list[str], list[tuple[str, dict[str, str]]]]:
    """The names of the columns of a CSV file, and its rows, each with its place; the first delimiter there counts."""
    text = read_text(path)
    first = text.partition("\n")[0]
    delimiter = next((each for each in delimiters if each in first), delimiters[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    rows = []
    try:
        for cells in reader:
            where = f"{path}, line {reader.line_num}"
            if not header and len(set(cells)) == len(cells):
                header = cells
            elif len(cells or [""]) == len(header):  # a blank line is an empty text of an only column
                rows.append((where, dict(zip(header, cells or [""], strict=True))))
            elif cells:
                raise InputError(f"{where}: {len(cells)} columns, expected {len(header) or 'different names'}")
    except csv.Error as error:
        fix = "write a text with quotation marks between others, and double its own"
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error}); {fix}") from error
    return header, rows


def read_json(path: str | Path) -> Any:
    """The content of a JSON file."""
    return json_value(read_text(path), str(path))


def json_value(text: str, where: str, expected: str = "") -> Any:
    """The value that a JSON text stands for; errors begin with the place where it stands."""
    try:
        return json.loads(text, object_pairs_hook=_without_repetitions)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON ({error}){expected}") from error


def _without_repetitions(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        raise InputError(f"an object has {next(name for name in names if names.count(name) > 1)!r} twice")
    return mapping


def write_text(path: str | Path, text: str) -> None:
    """Write a UTF-8 file at once: to a temporary file beside it, which then takes its name."""
    data = text.encode("utf-8")
    write_bytes(path, gzip.compress(data, mtime=0) if Path(path).suffix == ".gz" else data)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file at once, like `write_text`; nothing is encoded or compressed."""
    # A link is followed. Anything that is not a regular file, such as `/dev/stdout` or a pipe, is written to directly.
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _replace(Path(os.path.realpath(path)), data)
    except OSError as error:  # it may name the temporary file, or none
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _replace(path: Path, data: bytes) -> None:
    temporary = unused_name(path)
    try:
        with temporary.open("xb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def unused_name(path: Path) -> Path:
    """A hidden name beside `path` for what is to replace it; made by `open` or `mkdir`, it has the mode of any file."""
    return path.with_name(f".{path.name[:20]}.{secrets.token_hex(8)}")


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits; read again only if the file has changed."""
    return _sha256(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _sha256(path: Path, modified: int) -> str:
    """SHA-256 of a file; `modified` only makes a changed file another entry of the cache."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
