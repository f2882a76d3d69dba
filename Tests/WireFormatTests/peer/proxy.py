#!/usr/bin/env python3
"""Runs nginx in front of the host at HOST PORT, and lets a browser join through it.

The configuration is the one in the documentation's page PAGE, with other names of files, addresses
and ports. The host is reached over TLS with --tls. Prints one line of JSON when the session has ended:
what `web_echo` prints, with the status of the answer to a request for "/".
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile

from tls import connect
from web_echo import Echo

NAME = "game.example"


def configure(page, options, port, folder):
    """The documented configuration, between the lines of nginx that a test needs."""
    with open(page, encoding="utf-8") as file:
        block = re.search(r"```\n(server \{\n.*?)```", file.read(), re.DOTALL).group(1)
    scheme = "https" if options.tls else "http"
    for pattern, text in [
        (r"listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        (r"ssl_certificate +\S+;", f"ssl_certificate {options.certificate};"),
        (r"ssl_certificate_key +\S+;", f"ssl_certificate_key {options.key};"),
        (r"proxy_pass http://127\.0\.0\.1:7777;",
         f"proxy_pass {scheme}://{options.host}:{options.port};"),
    ]:
        block, count = re.subn(pattern, text, block)
        assert count == 1, f"{pattern} is {count} times in the configuration of {page}"
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    user = "user root;\n" if os.geteuid() == 0 else ""
    return (
        f"{user}daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{block}}}\n")


def page_status(address):
    """The status of the answer to a request for "/"."""
    stream = connect(address, True)
    stream.sendall(f"GET / HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n".encode())
    answer = b""
    while more := stream.recv(65_536):
        answer += more
    stream.close()
    return int(answer.split(b" ")[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("nginx")
    parser.add_argument("page")
    parser.add_argument("certificate")
    parser.add_argument("key")
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--code")
    options = parser.parse_args()
    # nginx takes over a socket that listens already, so nobody has to wait until it is ready.
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/nginx.conf"
        with open(path, "w", encoding="utf-8") as file:
            file.write(configure(options.page, options, address[1], folder))
        with subprocess.Popen(
            [options.nginx, "-p", folder, "-c", path], pass_fds=[listener.fileno()],
            env={**os.environ, "NGINX": f"{listener.fileno()};"}, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as nginx:
            listener.close()
            try:
                status = page_status(address)
                echo = Echo(argparse.Namespace(
                    host=address[0], port=address[1], rejoin=25, last=75, tls=True,
                    code=options.code, id=None, name=NAME, unread=None))
                print(json.dumps(dict(echo.run(), status=status)), flush=True)
            finally:
                nginx.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
