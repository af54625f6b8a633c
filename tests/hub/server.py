#!/usr/bin/env python3
"""A model hub on 127.0.0.1 that misbehaves on request. Standard library only.

    server.py --root DIR --script FILE --log FILE [--cert FILE --key FILE]

DIR holds the repository's files as DIR/ORG/NAME/PATH. Two ports are opened: "hub" (the endpoint: the
API, small files, redirects for large ones) and "cdn" (another origin, where *.safetensors come
from). Prints "HUB_PORT CDN_PORT" and serves until standard input closes, at most 180 seconds.

The script is JSON:
  {"commit": "...",                 commit of the repository
   "token": "...",                  the hub answers 401 without it
   "info": {...},                   replaces members of the API's answer
   "info_text": "...",              replaces the whole answer
   "describe": false,               leaves sizes and digests out, as some mirrors do
   "faults": {"api": [...], "PATH": [...], "cdn:PATH": [...]}}

Each request takes the next fault of its list; null and an exhausted list mean good behaviour. A
fault with "always": true stays. Faults:
  {"status": 503, "headers": {...}, "body": "..."}   answer that
  {"redirect": URL, "status": 302}                   redirect; {hub}, {cdn} stand for the origins
  {"drop_after": N}      full Content-Length, N bytes of body, then the connection is reset
  {"reset": true}        all of the body, then the connection is reset
  {"end_after": N}       no Content-Length, N bytes of body, then a regular end
  {"stall_after": N}     full Content-Length, N bytes of body, then silence
  {"trickle": S}         one byte of body every S seconds
  {"resize": N}          the body (and Content-Length) has N bytes more or fewer
  {"corrupt": true}      one byte is changed
  {"ignore_range": true} answers 200 with everything
  {"refuse_range": true} answers 416
  {"content_range": S}   sends this Content-Range with the right bytes
  {"wrong_range": true}  answers 206 with the file's first bytes
  {"etag": S}            another ETag; with "honour": false ranges are served in spite of If-Range
  {"new_content": true}  the file is another one of the same length now
  {"close": true}        closes without an answer
  {"endless_headers": true}  sends headers without end
"""

import argparse
import hashlib
import http.server
import json
import os
import pathlib
import socket
import socketserver
import ssl
import struct
import sys
import threading
import time
import urllib.parse

LIFETIME_SECONDS = 180
LOCK = threading.Lock()


class Hub:
    """What both ports share."""

    def __init__(self, args):
        self.root = pathlib.Path(args.root)
        self.script = json.loads(pathlib.Path(args.script).read_text())
        self.log_path = args.log
        self.origins = {}

    def next_fault(self, key):
        with LOCK:
            faults = self.script.get("faults", {}).get(key, [])
            if not faults:
                return {}
            fault = faults[0]
            if not (fault or {}).get("always"):
                faults.pop(0)
            return fault or {}

    def log(self, **fields):
        with LOCK, open(self.log_path, "a", encoding="utf-8") as log:
            log.write(json.dumps(fields) + "\n")

    def info(self, repo):
        folder = self.root / repo
        siblings = []
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            content = path.read_bytes()
            entry = {"rfilename": path.relative_to(folder).as_posix()}
            if self.script.get("describe", True):
                entry["size"] = len(content)
                entry["blobId"] = git_sha1(content)
                if is_large(entry["rfilename"]):
                    entry["lfs"] = {"sha256": hashlib.sha256(content).hexdigest(),
                                    "size": len(content), "pointerSize": 134}
            siblings.append(entry)
        answer = {"id": repo, "sha": self.script["commit"], "siblings": siblings, "private": False}
        answer.update(self.script.get("info", {}))
        return answer


def is_large(path):
    return path.endswith(".safetensors")


def git_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    hub = None
    role = ""

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.handle_request()

    def do_GET(self):
        self.handle_request()

    def handle_request(self):
        path = urllib.parse.unquote(urllib.parse.urlsplit(self.path).path)
        self.hub.log(role=self.role, method=self.command, path=path, target=self.path,
                     authorization=self.headers.get("Authorization"),
                     range=self.headers.get("Range"), if_range=self.headers.get("If-Range"),
                     encoding=self.headers.get("Accept-Encoding"))
        try:
            if self.role == "cdn":
                self.serve_cdn(path)
            else:
                self.serve_hub(path)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def serve_hub(self, path):
        token = self.hub.script.get("token")
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            return self.answer(401, b'{"error":"Invalid username or password."}')
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            return self.serve_api(parts)
        if "resolve" not in parts:
            return self.answer(404, b'{"error":"Not Found"}')
        at = parts.index("resolve")
        repo, commit, name = "/".join(parts[:at]), parts[at + 1], "/".join(parts[at + 2:])
        fault = self.hub.next_fault(name)
        if self.common_fault(fault):
            return None
        file = self.hub.root / repo / name
        if commit != self.hub.script["commit"] or not file.is_file():
            return self.answer(404, b"", {"X-Error-Code": "EntryNotFound"})
        content = file.read_bytes()
        if is_large(name):
            return self.answer(302, b"", {
                "Location": f"{self.hub.origins['cdn']}/blobs/{repo}/{name}?signature=x",
                "X-Linked-Size": str(len(content)), "X-Repo-Commit": commit,
                "X-Linked-Etag": '"%s"' % hashlib.sha256(content).hexdigest()})
        return self.serve_content(content, '"%s"' % git_sha1(content), fault)

    def serve_api(self, parts):
        fault = self.hub.next_fault("api")
        if self.common_fault(fault):
            return None
        at = parts.index("revision")
        repo, revision = "/".join(parts[2:at]), "/".join(parts[at + 1:])
        if not (self.hub.root / repo).is_dir():
            return self.answer(404, b'{"error":"Repository not found"}',
                               {"X-Error-Code": "RepoNotFound"})
        known = ["main", self.hub.script["commit"]] + self.hub.script.get("revisions", [])
        if revision not in known:
            return self.answer(404, b'{"error":"Invalid rev id"}',
                               {"X-Error-Code": "RevisionNotFound"})
        text = self.hub.script.get("info_text")
        body = text.encode() if text is not None else json.dumps(self.hub.info(repo)).encode()
        return self.serve_content(body, None, fault)

    def serve_cdn(self, path):
        _, _, org, repo, name = path.split("/", 4)
        fault = self.hub.next_fault("cdn:" + name)
        if self.common_fault(fault):
            return None
        content = (self.hub.root / org / repo / name).read_bytes()
        return self.serve_content(content, '"%s"' % hashlib.md5(content).hexdigest(), fault)

    def common_fault(self, fault):
        """Faults that replace the whole answer."""
        if fault.get("close"):
            self.close_connection = True
        elif fault.get("endless_headers"):
            self.send_response(200)
            for number in range(1 << 20):
                self.send_header(f"X-Filler-{number}", "x" * 100)
                self.flush_headers()
        elif "redirect" in fault:
            url = fault["redirect"].format(**self.hub.origins)
            self.answer(fault.get("status", 302), b"", {"Location": url})
        elif "status" in fault:
            self.answer(fault["status"], fault.get("body", "").encode(), fault.get("headers", {}))
        else:
            return False
        return True

    def answer(self, status, body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def requested_offset(self, etag, fault):
        """Where the client asks to resume, if its range is to be honoured."""
        asked = self.headers.get("Range")
        if asked is None or fault.get("ignore_range"):
            return None
        if_range = self.headers.get("If-Range")
        if if_range is not None and if_range != etag and fault.get("honour", True):
            return None
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def serve_content(self, content, etag, fault):
        if fault.get("new_content"):
            content = bytes(byte ^ 1 for byte in content)
        if "resize" in fault:
            content = (content + b"x" * max(0, fault["resize"]))[:len(content) + fault["resize"]]
        if fault.get("corrupt"):
            content = content[:-1] + bytes([content[-1] ^ 1])
        etag = fault.get("etag", etag)
        offset = self.requested_offset(etag, fault)
        total = len(content)
        if offset is not None and (offset >= total or fault.get("refuse_range")):
            return self.answer(416, b"", {"Content-Range": f"bytes */{total}"})
        start = 0 if fault.get("wrong_range") else offset or 0
        body = content[start:]
        self.send_response(200 if offset is None else 206)
        if offset is not None:
            span = f"bytes {start}-{total - 1}/{total}"
            self.send_header("Content-Range", fault.get("content_range", span))
        if etag:
            self.send_header("ETag", etag)
        self.send_header("X-Repo-Commit", self.hub.script["commit"])
        if "end_after" in fault:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.send_body(body, fault)
        return None

    def send_body(self, body, fault):
        if "drop_after" in fault:
            self.wfile.write(body[:fault["drop_after"]])
            self.reset()
        elif "end_after" in fault:
            self.wfile.write(body[:fault["end_after"]])
            self.close_connection = True
        elif "stall_after" in fault:
            self.wfile.write(body[:fault["stall_after"]])
            self.connection.settimeout(LIFETIME_SECONDS)
            self.connection.recv(1)  # until the client leaves
            self.close_connection = True
        elif "trickle" in fault:
            for byte in body:
                self.wfile.write(bytes([byte]))
                time.sleep(fault["trickle"])
        else:
            self.wfile.write(body)
            if fault.get("reset"):
                self.reset()

    def reset(self):
        """Ends the connection with RST instead of a regular end, once the data is out."""
        time.sleep(0.05)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def server_bind(self):
        # The base class would look the host's name up, which takes a second without a network.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address

    def handle_error(self, request, client_address):
        pass

    def shutdown_request(self, request):
        self.close_request(request)  # shutdown() before close() would send a regular end


def start(role, hub, args):
    handler = type(f"{role.title()}Handler", (Handler,), {"hub": hub, "role": role})
    server = Server(("127.0.0.1", 0), handler)
    scheme = "http"
    if args.cert and role == "hub":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(args.cert, args.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    hub.origins[role] = f"{scheme}://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def main():
    parser = argparse.ArgumentParser()
    for name in ("root", "script", "log"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--cert")
    parser.add_argument("--key")
    args = parser.parse_args()
    hub = Hub(args)
    ports = [start(role, hub, args) for role in ("hub", "cdn")]
    print(*ports, flush=True)
    threading.Timer(LIFETIME_SECONDS, lambda: os._exit(3)).start()
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
