"""A small real model behind the Messages API on loopback, run in an environment that has xllamacpp.

llama.cpp's own /v1/messages ignores `output_config`; its /v1/chat/completions takes a JSON schema. This maps
one to the other, gives every response a request id and every error the API's shape. Prints its URL.
"""

import argparse
import json
import os
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import xllamacpp

STOP_REASONS = {"stop": "end_turn", "length": "max_tokens"}
SAMPLING = ("temperature", "top_p", "top_k")
NO_SAMPLING = "2026-10-21"  # the first API version that takes no sampling parameters
LONGEST_TEXT = 60  # characters; a model this small otherwise writes one string until max_tokens
MOST_ITEMS = 1
LARGEST_NUMBER = 99
NUMBERS = count(1)


def bounded(schema: Any) -> Any:
    """The schema with every string, list and number limited."""
    if isinstance(schema, list):
        return [bounded(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    limits: dict[Any, dict[str, int]] = {
        "string": {"maxLength": LONGEST_TEXT},
        "array": {"maxItems": MOST_ITEMS},
        "integer": {"minimum": 0, "maximum": LARGEST_NUMBER},
    }
    more = {} if "enum" in schema else limits.get(schema.get("type"), {})
    return {**{name: bounded(value) for name, value in schema.items()}, **more}


def text(content: Any) -> str:
    return content if isinstance(content, str) else "\n\n".join(block.get("text", "") for block in content)


def completion_request(body: dict[str, Any]) -> dict[str, Any]:
    """The request to /v1/chat/completions that a request of the Messages API amounts to."""
    turns = [{"role": turn["role"], "content": text(turn["content"])} for turn in body["messages"]]
    system = [{"role": "system", "content": text(body["system"])}] if body.get("system") else []
    asked = {"messages": [*system, *turns], "max_tokens": body["max_tokens"], "cache_prompt": True}
    sampling = {name: body[name] for name in SAMPLING if name in body}
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    if schema:
        asked["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": bounded(schema)},
        }
    return {**asked, **sampling}


def message(completion: dict[str, Any], model: str) -> dict[str, Any]:
    """The message that a completion amounts to."""
    choice, used = completion["choices"][0], completion["usage"]
    said = choice["message"].get("content") or ""
    return {
        "id": f"msg_{completion['id']}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": said}],
        "stop_reason": STOP_REASONS.get(choice["finish_reason"], "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": used["prompt_tokens"], "output_tokens": used["completion_tokens"]},
    }


def error(kind: str, words: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": words}}


class Adapter(ThreadingHTTPServer):
    """Takes requests of the Messages API and passes them to llama.cpp's server at `behind`."""

    daemon_threads = True

    def __init__(self, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind

    def respond(self, path: str, version: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if version >= NO_SAMPLING and any(name in body for name in SAMPLING):
            return 400, error("invalid_request_error", "sampling parameters are not supported")
        try:
            if path == "/v1/messages":
                done = self._ask("/v1/chat/completions", completion_request(body))
                return 200, message(done, body["model"])
            return 200, self._ask(path, body)
        except urllib.error.HTTPError as failed:
            kind = "invalid_request_error" if failed.code < 500 else "api_error"
            return failed.code, error(kind, failed.read().decode("utf-8", "replace"))

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self.behind}{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=600) as response:
            answered: dict[str, Any] = json.load(response)
        return answered


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Adapter

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        version = self.headers.get("anthropic-version", "")
        status, answered = self.server.respond(self.path.split("?")[0], version, body)
        data = json.dumps(answered).encode()
        self.send_response(status)
        self.send_header("request-id", f"req_local_{next(NUMBERS)}")
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def model_server(path: str, context: int, threads: int) -> xllamacpp.Server:
    """llama.cpp's server with the model loaded."""
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.use_jinja = True
    params.sampling.seed = 1
    return xllamacpp.Server(params)


def end_with_caller() -> None:
    """Stop at once when the caller is gone, however it ended."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", help="path of a GGUF file")
    parser.add_argument("--context", type=int, default=8192, help="tokens")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    model = model_server(args.model, args.context, args.threads)
    adapter = Adapter(model.listening_address)
    threading.Thread(target=end_with_caller, daemon=True).start()
    print(f"http://127.0.0.1:{adapter.server_port}", flush=True)
    adapter.serve_forever()


if __name__ == "__main__":
    main()
