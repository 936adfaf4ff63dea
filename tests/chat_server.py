"""A stand-in for an OpenAI-compatible endpoint, on this machine, with whatever behaviour a test wants."""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Raw:
    """An HTTP response in place of a chat completion."""

    status: int = 200
    body: str | bytes = ""
    headers: dict = field(default_factory=dict)


class Drop:
    """The connection ends without a response."""


def material(request):
    """What the judge was given to grade: the JSON object of the last message."""
    return json.loads(request["messages"][-1]["content"])


def grade(text):
    """The stand-in's opinion of a text."""
    return len(text) % 5 + 1


def honest(request, number=0):
    """The answer of a judge that keeps to the form."""
    return json.dumps({"scores": {output["id"]: grade(output["text"]) for output in material(request)["outputs"]}})


class ChatServer:
    """Answers `POST /v1/chat/completions` by `behave(request, number)`: a text, `Raw` or `Drop`.

    Attributes:
        requests: Bodies of the requests, in the order of their arrival.
        headers: Their headers, names in lower case.
        usage: Stated with each answer; `None` states none.
    """

    def __init__(self, behave=honest):
        self.behave, self.requests, self.headers = behave, [], []
        self.usage = {"prompt_tokens": 100, "completion_tokens": 10}
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def completion(self, content, **message):
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content, **message}}
        usage = {} if self.usage is None else {"usage": self.usage}
        return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], **usage})

    def _handler(self):
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with stand_in.lock:
                    stand_in.requests.append(request)
                    stand_in.headers.append({name.lower(): value for name, value in self.headers.items()})
                    number = len(stand_in.requests) - 1
                answer = stand_in.behave(request, number) if self.path == "/v1/chat/completions" else Raw(404)
                if isinstance(answer, Drop):
                    self.close_connection = True
                    return
                if isinstance(answer, str):
                    answer = Raw(body=stand_in.completion(answer))
                body = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
                self.send_response(answer.status)
                for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        return Handler
