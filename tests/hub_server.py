"""A stand-in for the Hugging Face Hub on this machine: the part of its HTTP interface that the client libraries use.

Repositories live in memory. Files of more than `LARGE` bytes, and those with certain endings, go through LFS.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

LARGE = 10_000
LARGE_ENDINGS = (".safetensors", ".parquet", ".bin")
PREFIX = {"model": "", "dataset": "datasets/", "space": "spaces/"}
TOKEN = "hf_local"
READ_ONLY = "hf_reader"


@dataclass
class File:
    """A file of a commit."""

    data: bytes
    large: bool

    @property
    def sha256(self):
        return hashlib.sha256(self.data).hexdigest()

    @property
    def oid(self):
        """Of the git object: the file itself, or the pointer to it."""
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{self.sha256}\nsize {len(self.data)}\n"
        data = pointer.encode() if self.large else self.data
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()

    @property
    def etag(self):
        return self.sha256 if self.large else self.oid


@dataclass
class Repo:
    """A repository: commits in order, the newest last, and names of some of them."""

    kind: str
    name: str
    private: bool
    commits: list = field(default_factory=list)  # (oid, message, files)
    tags: dict = field(default_factory=dict)

    def commit(self, files, message):
        seed = f"{self.kind}{self.name}{len(self.commits)}{sorted((p, f.oid) for p, f in files.items())}"
        self.commits.append((hashlib.sha1(seed.encode()).hexdigest(), message, files))
        return self.commits[-1][0]

    @property
    def head(self):
        return self.commits[-1][0]

    @property
    def files(self):
        return self.commits[-1][2]

    def at(self, revision):
        """Commit and files of a branch, tag or commit; `None` if there is no such revision."""
        oid = self.head if revision == "main" else self.tags.get(revision, revision)
        return next(((commit, files) for commit, _, files in self.commits if commit == oid), None)


@dataclass
class Fault:
    """What goes wrong with the requests that match, as often as `times` says.

    `how`: `"drop"` closes the connection after half of the request's body, `"lose"` once the request was carried out,
    without an answer.
    """

    method: str
    path: str
    how: str
    times: int = 1


class Refusal(Exception):
    """An answer that is no success."""

    def __init__(self, status, message, code=None):
        super().__init__(message)
        self.status, self.code = status, code


class HubServer:
    """Starts at once on a free port.

    Attributes:
        url: For `HF_ENDPOINT`.
        repos: (kind, name) to `Repo`.
        requests: Method and path of each request, in the order of arrival.
        fault: What goes wrong, if anything.
    """

    def __init__(self):
        self.repos, self.large, self.requests, self.fault = {}, {}, [], None
        self.lock = threading.RLock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"hub": self}))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def create(self, kind, name, private=False):
        repo = self.repos[kind, name] = Repo(kind, name, private)
        files = {".gitattributes": File(b"*.safetensors filter=lfs diff=lfs merge=lfs -text\n", False)}
        if kind == "space":
            files["README.md"] = File(b"---\nsdk: gradio\n---\n", False)
        repo.commit(files, "initial commit")
        return repo


ROUTES: list[tuple[str, re.Pattern, Callable]] = []


def route(method, pattern):
    """Register a method of `Handler` for a path; `REPO` in it stands for the kind and name in an API path."""
    pattern = pattern.replace("REPO", r"(?P<kind>model|dataset|space)s/(?P<name>[^/]+(?:/[^/]+)?)")
    pattern = pattern.replace("PAGE", r"(?P<prefix>datasets/|spaces/|)(?P<name>[^/]+(?:/[^/]+)?)")

    def register(function):
        ROUTES.append((method, re.compile(pattern), function))
        return function

    return register


class Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        split = urlsplit(self.path)
        self.query = parse_qs(split.query)
        self.hub.requests.append((self.command, unquote(split.path)))
        try:
            fault = self._fault(unquote(split.path))
            self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self.user = self._user()
            # Names of tags and files may hold a slash, which the clients quote: match before unquoting.
            method = "GET" if self.command == "HEAD" else self.command
            for wanted, pattern, function in ROUTES:
                if wanted == method and (match := pattern.fullmatch(split.path)):
                    parts = {key: unquote(value) for key, value in match.groupdict().items() if value is not None}
                    with self.hub.lock:
                        status, headers, data = function(self, **parts)
                    break
            else:
                raise Refusal(404, f"no such page: {split.path}")
            if fault and fault.how == "lose":
                raise ConnectionAbortedError
            self._answer(status, headers, data)
        except Refusal as refusal:
            headers = {"X-Error-Message": str(refusal), **({"X-Error-Code": refusal.code} if refusal.code else {})}
            self._answer(refusal.status, headers, json.dumps({"error": str(refusal)}).encode())
        except ConnectionError:
            self.close_connection = True
            self.connection.close()

    do_HEAD = do_POST = do_PUT = do_GET

    def _fault(self, path):
        """Let happen what shall go wrong; returns the fault if it applies."""
        fault = self.hub.fault
        if not fault or not fault.times or self.command != fault.method or not re.search(fault.path, path):
            return None
        fault.times -= 1
        if fault.how == "drop":
            self.rfile.read(int(self.headers.get("content-length", 0)) // 2)
            raise ConnectionAbortedError
        return fault

    def _answer(self, status, headers, data):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _user(self):
        """`"writer"`, `"reader"` or `None` without a token; a token that is none is refused wherever it is shown."""
        given = self.headers.get("authorization", "").removeprefix("Bearer ")
        users = {TOKEN: "writer", READ_ONLY: "reader", "": None}
        if given not in users:
            raise Refusal(401, "Invalid credentials in Authorization header")
        return users[given]

    def _write(self):
        if self.user != "writer":
            raise Refusal(403, "You don't have the rights to write under this namespace")

    def _repo(self, kind, name):
        repo = self.hub.repos.get((kind, name))
        if repo is None or (repo.private and self.user is None):
            raise Refusal(404 if self.user else 401, "Repository not found", "RepoNotFound")
        return repo

    def _at(self, kind, name, revision):
        repo = self._repo(kind, name)
        found = repo.at(revision)
        if found is None:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return repo, *found

    @staticmethod
    def _json(value):
        return 200, {"Content-Type": "application/json"}, json.dumps(value).encode()

    @route("GET", "/api/whoami-v2")
    def whoami(self):
        return self._json({"type": "user", "name": self.user, "orgs": [{"name": "ORG"}], "auth": {}})

    @route("POST", "/api/repos/create")
    def create(self):
        self._write()
        wanted = json.loads(self.body)
        kind, name = wanted.get("type") or "model", f"{wanted['organization']}/{wanted['name']}"
        if (kind, name) in self.hub.repos:
            raise Refusal(409, "You already created this repo")
        private = wanted.get("private") or wanted.get("visibility") == "private"
        self.hub.create(kind, name, bool(private))
        return self._json({"url": f"{self.hub.url}/{PREFIX[kind]}{name}"})

    @route("POST", "/api/validate-yaml")
    def validate(self):
        return self._json({"errors": [], "warnings": []})

    @route("POST", "/api/REPO/preupload/(?P<revision>[^/]+)")
    def preupload(self, kind, name, revision):
        self._write()
        _, _, files = self._at(kind, name, revision)
        answer = []
        for file in json.loads(self.body)["files"]:
            mode = "lfs" if file["size"] > LARGE or file["path"].endswith(LARGE_ENDINGS) else "regular"
            there = files.get(file["path"])
            entry = {"path": file["path"], "uploadMode": mode, "shouldIgnore": False}
            answer.append(entry | ({"oid": there.etag} if there else {}))
        return self._json({"files": answer})

    @route("POST", r"/PAGE\.git/info/lfs/objects/batch")
    def batch(self, prefix, name):
        self._write()
        objects = []
        for wanted in json.loads(self.body)["objects"]:
            actions = {
                "upload": {"href": f"{self.hub.url}/storage/{wanted['oid']}"},
                "verify": {"href": f"{self.hub.url}/storage-verify"},
            }
            objects.append({**wanted, **({} if wanted["oid"] in self.hub.large else {"actions": actions})})
        return self._json({"transfer": "basic", "objects": objects})

    @route("PUT", "/storage/(?P<oid>[0-9a-f]{64})")
    def put(self, oid):
        if hashlib.sha256(self.body).hexdigest() != oid:
            raise Refusal(400, "the content is not what was announced")
        self.hub.large[oid] = self.body
        return 200, {}, b""

    @route("POST", "/storage-verify")
    def verify(self):
        return self._json({})

    @route("POST", "/api/REPO/commit/(?P<revision>[^/]+)")
    def commit(self, kind, name, revision):
        self._write()
        repo, head, old = self._at(kind, name, revision)
        files, message = dict(old), ""
        for line in self.body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "header":
                message = value["summary"]
                if value.get("parentCommit", head) != head:
                    raise Refusal(412, "A commit has happened since. Please refresh and try again.")
            elif entry["key"] == "file":
                files[value["path"]] = File(base64.b64decode(value["content"]), False)
            elif entry["key"] == "lfsFile":
                if value["oid"] not in self.hub.large:
                    raise Refusal(400, f"{value['path']}: this object was never uploaded")
                files[value["path"]] = File(self.hub.large[value["oid"]], True)
            elif entry["key"] == "deletedFile":
                del files[value["path"]]
        oid = repo.commit(files, message)
        return self._json({"commitOid": oid, "commitUrl": f"{self.hub.url}/{PREFIX[kind]}{name}/commit/{oid}"})

    @route("POST", "/api/REPO/tag/(?P<revision>[^/]+)")
    def tag(self, kind, name, revision):
        self._write()
        repo, oid, _ = self._at(kind, name, revision)
        wanted = json.loads(self.body)["tag"]
        if wanted in repo.tags:
            raise Refusal(409, f"Tag {wanted} already exists")
        repo.tags[wanted] = oid
        return self._json({})

    @route("GET", "/api/REPO/tree/(?P<revision>[^/]+)(?:/(?P<folder>.*))?")
    def tree(self, kind, name, revision, folder=""):
        _, _, files = self._at(kind, name, revision)
        start = f"{folder}/" if folder else ""
        recursive = self.query.get("recursive", [""])[0].lower() in ("true", "1")
        inside = {path: file for path, file in files.items() if path.startswith(start)}
        if start and not inside:
            raise Refusal(404, f"{folder} does not exist on {revision}", "EntryNotFound")
        return self._json(self._entries(inside, start, recursive))

    def _entries(self, files, start="", recursive=True):
        folders, entries = {}, []
        for path, file in sorted(files.items()):
            parts = path.removeprefix(start).split("/")
            for depth in range(1, len(parts)):
                if recursive or depth == 1:
                    folders[start + "/".join(parts[:depth])] = None
            if recursive or len(parts) == 1:
                large = {"lfs": {"oid": file.sha256, "size": len(file.data), "pointerSize": 130}} if file.large else {}
                entries.append({"type": "file", "path": path, "size": len(file.data), "oid": file.oid, **large})
        return [{"type": "directory", "path": folder, "size": 0, "oid": "0" * 40} for folder in folders] + entries

    @route("GET", "/api/REPO/revision/(?P<revision>[^/]+)")
    def info_at(self, kind, name, revision):
        repo, oid, files = self._at(kind, name, revision)
        siblings = []
        for path, file in sorted(files.items()):
            large = {"lfs": {"sha256": file.sha256, "size": len(file.data), "pointerSize": 130}} if file.large else {}
            blob = {"blobId": file.oid, "size": len(file.data), **large}
            siblings.append({"rfilename": path, **(blob if "blobs" in self.query else {})})
        return self._json({"id": repo.name, "sha": oid, "private": repo.private, "siblings": siblings})

    @route("GET", "/api/REPO")
    def info(self, kind, name):
        return self.info_at(kind, name, "main")

    @route("GET", "/PAGE/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
    def resolve(self, prefix, name, revision, path):
        kind = {value: key for key, value in PREFIX.items()}[prefix]
        _, oid, files = self._at(kind, name, revision)
        if path not in files:
            raise Refusal(404, "Entry not found", "EntryNotFound")
        file = files[path]
        headers = {"X-Repo-Commit": oid, "ETag": f'"{file.etag}"'}
        if file.large:
            headers |= {"X-Linked-Etag": f'"{file.sha256}"', "X-Linked-Size": str(len(file.data))}
            storage = f"{self.hub.url.replace('127.0.0.1', 'localhost')}/storage"
            return 302, {**headers, "Location": f"{storage}/{file.sha256}"}, b""
        return 200, headers, file.data

    @route("GET", "/storage/(?P<oid>[0-9a-f]{64})")
    def stored(self, oid):
        return 200, {"ETag": f'"{oid}"'}, self.hub.large[oid]
