"""A client's socket over TLS, by the ssl module of Python, with the calls that `web` uses."""

import socket
import ssl


def make_context(newest=None, protocols=("http/1.1",)):
    """A context that accepts every certificate, as a test has one that nobody else knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if newest is not None:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = min(newest, ssl.TLSVersion.TLSv1_2)
        context.maximum_version = newest
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


class TLSSocket:
    """A connected socket over TLS."""

    def __init__(self, stream, context=None):
        self.tls = (context or make_context()).wrap_socket(stream, server_hostname="localhost")

    def fileno(self):
        return self.tls.fileno()

    def setsockopt(self, *options):
        self.tls.setsockopt(*options)

    def setblocking(self, is_blocking):
        self.tls.setblocking(is_blocking)

    def settimeout(self, seconds):
        self.tls.settimeout(seconds)

    def recv(self, count):
        """What has arrived, with everything that was decrypted already, as `select` does not see it."""
        try:
            data = self.tls.recv(count)
            while self.tls.pending():
                data += self.tls.recv(count)
        except ssl.SSLWantReadError:
            raise BlockingIOError from None
        return data

    def send(self, data):
        try:
            return self.tls.send(data)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise BlockingIOError from None

    def sendall(self, data):
        self.tls.sendall(data)

    def close(self):
        self.tls.close()


def connect(address, is_encrypted, context=None):
    """A connection to a host, over TLS or not."""
    stream = socket.create_connection(address, timeout=10)
    return TLSSocket(stream, context) if is_encrypted else stream
