"""The handshake of an encrypted link, and its keys: Noise XX, IK with a host whose key the client
knows, XXpsk3 with a join code, or NNpsk0 with a connect token.

libsodium has the curves and the cipher, the standard library the hashes.
"""

import ctypes
import hashlib
import hmac
import os
import struct

from tokens import SODIUM, Backend, Token
from wire import Broken

VERSION = 3
CHACHA, WITH_CODE, WITH_TOKEN, WITH_KNOWN_HOST = 1, 16, 32, 48
TAG = 16


def multiply(function, scalar, point=None):
    out = ctypes.create_string_buffer(32)
    arguments = (out, scalar) if point is None else (out, scalar, point)
    if getattr(SODIUM, function)(*arguments) != 0:
        raise Broken("a public key that shares no secret")
    return out.raw


def dh(secret, public):
    return multiply("crypto_scalarmult_curve25519", secret, public)


def public_key(secret):
    return multiply("crypto_scalarmult_curve25519_base", secret)


def seal(key, number, plain, head):
    out = ctypes.create_string_buffer(len(plain) + TAG)
    SODIUM.crypto_aead_chacha20poly1305_ietf_encrypt(
        out, None, plain, ctypes.c_ulonglong(len(plain)), head, ctypes.c_ulonglong(len(head)), None,
        struct.pack("<IQ", 0, number), key)
    return out.raw


def unseal(key, number, sealed, head):
    """The plaintext, or None if the tag is wrong."""
    out = ctypes.create_string_buffer(max(1, len(sealed) - TAG))
    if len(sealed) < TAG or SODIUM.crypto_aead_chacha20poly1305_ietf_decrypt(
            out, None, None, sealed, ctypes.c_ulonglong(len(sealed)), head,
            ctypes.c_ulonglong(len(head)), struct.pack("<IQ", 0, number), key) != 0:
        return None
    return out.raw[: len(sealed) - TAG]


def digest(data):
    return hashlib.blake2b(data).digest()


def derive(key, secret, count):
    """HKDF of the Noise Protocol Framework."""
    mixed = hmac.new(key, secret, hashlib.blake2b).digest()
    outputs = [b""]
    for number in range(1, count + 1):
        outputs.append(hmac.new(mixed, outputs[-1] + bytes([number]), hashlib.blake2b).digest())
    return outputs[1:]


def identifier(public):
    """The peer id that belongs to a public key."""
    return digest(b"carom peer id" + public)[:16]


class PasswordExchange:
    """One side of CPace, suite CPACE-RISTR255-SHA512."""

    DOMAIN = b"CPaceRistretto255"

    def __init__(self, password, channel, session, is_initiator, randomness):
        self.session, self.is_initiator = session, is_initiator
        padding = 127 - len(self.prefixed(self.DOMAIN)) - len(self.prefixed(password))
        text = b"".join(map(self.prefixed, [
            self.DOMAIN, password, bytes(max(0, padding)), channel, session]))
        self.scalar = self.call("crypto_core_ristretto255_scalar_reduce", randomness)
        generator = self.call("crypto_core_ristretto255_from_hash", hashlib.sha512(text).digest())
        self.share = multiply("crypto_scalarmult_ristretto255", self.scalar, generator)

    @staticmethod
    def prefixed(data):
        head, rest = b"", len(data)
        while rest >= 0x80:
            head, rest = head + bytes([rest & 0x7F | 0x80]), rest >> 7
        return head + bytes([rest]) + data

    @staticmethod
    def call(function, data):
        out = ctypes.create_string_buffer(32)
        getattr(SODIUM, function)(out, data)
        return out.raw

    def key(self, share):
        secret = multiply("crypto_scalarmult_ristretto255", self.scalar, share)
        sides = [self.prefixed(self.share) + b"\0", self.prefixed(share) + b"\0"]
        text = b"".join(map(self.prefixed, [self.DOMAIN + b"_ISK", self.session, secret]))
        return hashlib.sha512(text + b"".join(
            sides if self.is_initiator else sides[::-1])).digest()[:32]


def following(key):
    """The key that replaces another one."""
    return seal(key, 2**64 - 1, bytes(32), b"")[:32]


class Keys:
    """The keys of one link, which are replaced from time to time."""

    KEPT = 0.1

    def __init__(self, chaining, is_initiator, peer):
        first, second, third = (key[:32] for key in derive(chaining, b"", 3))
        self.sending, self.receiving = (first, second) if is_initiator else (second, first)
        self.secret, self.peer = third, peer
        self.changes, self.first_sent = 0, 0
        # Of a datagram path: the key phases, the lowest number that `receiving` has decrypted, and
        # the key before it with the time until which it is kept.
        self.phase, self.peer_phase, self.lowest, self.before = 0, 0, None, None

    def change_sending(self, number):
        """`number` is the first that the next key encrypts."""
        self.sending, self.first_sent = following(self.sending), number
        self.phase, self.changes = self.phase ^ 1, self.changes + 1

    def may_change(self, acknowledged, now):
        """Whether the peer can tell the next key phase of a path from this one."""
        return (self.phase == self.peer_phase and acknowledged is not None
                and acknowledged >= self.first_sent
                and (self.before is None or now >= self.before[1]))

    def open_packet(self, number, phase, sealed, head, own_number, trip, now):
        """The plaintext of a data packet, or None if it is not the peer's."""
        if phase == self.peer_phase:
            plain = unseal(self.receiving, number, sealed, head)
            if plain is not None:
                self.lowest = number if self.lowest is None else min(self.lowest, number)
            return plain
        if self.lowest is not None and number < self.lowest:
            if self.before is None or now >= self.before[1]:
                return None
            return unseal(self.before[0], number, sealed, head)
        key = following(self.receiving)
        plain = unseal(key, number, sealed, head)
        if plain is not None:
            self.before = (self.receiving, now + max(self.KEPT, 3 * trip))
            self.receiving, self.peer_phase, self.lowest = key, phase, number
            if self.phase != phase:
                self.change_sending(own_number)
        return plain

    def tag(self, key, epoch, cookie):
        """The tag of a hello that moves the path."""
        text = key + struct.pack("<IQ", epoch, cookie)
        return hmac.new(self.secret, text, hashlib.blake2b).digest()[:TAG]


class Handshake:
    """One side of a handshake. `key` is that of the connection, or zeros on a stream. A responder
    also answers an initiator that knows its key, or believes to know it: `payload` is then what the
    first message contained, unless the key was another one."""

    uses_token = False
    requests_itself = False  # whether the first message contains the request
    payload = None

    def __init__(self, static, key, is_initiator, code=None, ephemeral=None, randomness=None):
        self.static, self.key, self.is_initiator, self.code = static, key, is_initiator, code
        self.ephemeral = ephemeral or os.urandom(32)
        self.randomness = randomness or os.urandom(64)
        self.cipher_key, self.number, self.keys = None, 0, None
        if is_initiator:
            self.begin(CHACHA | (WITH_CODE if code else 0))

    def begin(self, offer, pattern=None, after=b""):
        """`after` is what the prologue is followed by."""
        pattern = pattern or (
            b"NNpsk0" if self.uses_token else b"XXpsk3" if self.code else b"XX")
        self.pattern = pattern.decode()
        name = b"Noise_%s_25519_ChaChaPoly_BLAKE2b" % pattern
        self.hash = self.chaining = name.ljust(64, b"\0")
        self.cipher_key, self.number = None, 0
        self.offer = offer
        self.prologue = b"carom session" + struct.pack("<HB", VERSION, offer) + self.key + after
        self.mix_hash(self.prologue)

    # The symmetric state.

    def mix_hash(self, data):
        self.hash = digest(self.hash + data)

    def mix_key(self, secret):
        self.chaining, key = derive(self.chaining, secret, 2)
        self.cipher_key, self.number = key[:32], 0

    def mix_shared(self, secret):
        self.chaining, mixed, key = derive(self.chaining, secret, 3)
        self.mix_hash(mixed)
        self.cipher_key, self.number = key[:32], 0

    def encrypt(self, plain):
        part = plain
        if self.cipher_key is not None:
            part = seal(self.cipher_key, self.number, plain, self.hash)
            self.number += 1
        self.mix_hash(part)
        return part

    def decrypt(self, part):
        plain = part
        if self.cipher_key is not None:
            plain = unseal(self.cipher_key, self.number, part, self.hash)
            if plain is None:
                raise Broken("a handshake that is not authentic")
            self.number += 1
        self.mix_hash(part)
        return plain

    def mix_ephemeral(self, public):
        self.mix_hash(public)
        if self.code or self.uses_token:
            self.mix_key(public)

    # The messages.

    def ends_with(self, answer):
        """Whether no message of the handshake follows the responder's message `answer`."""
        return False

    def exchange(self, session):
        if not self.code:
            return None
        return PasswordExchange(
            self.code, self.prologue, session, self.is_initiator, self.randomness)

    def first(self):
        """The initiator's first message."""
        public = public_key(self.ephemeral)
        self.cpace = self.exchange(public)
        self.mix_ephemeral(public)
        return bytes([self.offer]) + public + self.encrypt(self.cpace.share if self.code else b"")

    def second(self, message, hello=b""):
        """Reads the initiator's first message, which may be bound to `hello`; returns the
        responder's."""
        if len(message) < 33 or not message[0] & CHACHA:
            raise Broken("a handshake of another kind")
        if message[0] & 0xF0 == WITH_KNOWN_HOST and not self.code:
            return self.second_to_known(message, hello)
        if message[0] & 0xF0 != (WITH_CODE if self.code else 0):
            raise Broken("a handshake of another kind")
        self.begin(message[0])
        self.remote = message[1:33]
        self.mix_ephemeral(self.remote)
        share = self.decrypt(message[33:])
        choice = bytes([CHACHA])
        if self.code:
            cpace = self.exchange(self.remote)
            self.shared, choice = cpace.key(share), choice + cpace.share
        elif share:
            raise Broken("a first message that is too long")
        return self.second_with(choice)

    def second_to_known(self, message, hello):
        """Answers an initiator that believes to know this side's key. If it does, sets `payload`
        and `keys`, and there is no message after the answer."""
        if len(message) < 97:
            raise Broken("a first message that is too short")
        self.begin(message[0], b"IK", hello)
        self.remote = message[1:33]
        self.mix_hash(public_key(self.static))
        self.mix_hash(self.remote)
        self.mix_key(dh(self.static, self.remote))
        try:
            static = self.decrypt(message[33:81])
            self.mix_key(dh(self.static, static))
            self.payload = self.decrypt(message[81:])
        except Broken:
            # The initiator took another key for this side's: the handshake continues as XX.
            self.begin(message[0], b"XX", hello + message)
            self.mix_hash(self.remote)
            self.mix_hash(b"")
            return self.second_with(bytes([CHACHA]))
        public = public_key(self.ephemeral)
        self.mix_hash(public)
        self.mix_key(dh(self.ephemeral, self.remote))
        self.mix_key(dh(self.ephemeral, static))
        answer = public + self.encrypt(bytes([CHACHA]))
        self.keys = Keys(self.chaining, False, identifier(static))
        return answer

    def second_with(self, choice):
        """The responder's message, except to an initiator that knows its key."""
        public = public_key(self.ephemeral)
        self.mix_ephemeral(public)
        self.mix_key(dh(self.ephemeral, self.remote))
        static = self.encrypt(public_key(self.static))
        self.mix_key(dh(self.static, self.remote))
        return public + static + self.encrypt(choice)

    def third(self, message):
        """Reads the responder's message; returns the initiator's last, and sets `keys`."""
        ephemeral = message[:32]
        self.mix_ephemeral(ephemeral)
        self.mix_key(dh(self.ephemeral, ephemeral))
        remote = self.decrypt(message[32:80])
        self.mix_key(dh(self.ephemeral, remote))
        choice = self.decrypt(message[80:])
        if choice[:1] != bytes([CHACHA]) or len(choice) != (33 if self.code else 1):
            raise Broken("a choice that was not offered")
        static = self.encrypt(public_key(self.static))
        self.mix_key(dh(self.static, ephemeral))
        if self.code:
            self.mix_shared(self.cpace.key(choice[1:]))
        last = static + self.encrypt(b"")
        self.keys = Keys(self.chaining, True, identifier(remote))
        return last

    def end(self, message):
        """Reads the initiator's last message, and sets `keys`."""
        remote = self.decrypt(message[:48])
        self.mix_key(dh(self.ephemeral, remote))
        if self.code:
            self.mix_shared(self.shared)
        if self.decrypt(message[48:]) != b"":
            raise Broken("a last message that is too long")
        self.keys = Keys(self.chaining, False, identifier(remote))


class KnownHostHandshake(Handshake):
    """The initiator's side of a handshake with a host whose key it knows, or believes to know. It
    is bound to `hello`, which is empty on a stream, and `payload` is the payload of message 1."""

    ANSWER = 49  # the length of message 2 if the host has the key

    def __init__(self, static, key, host, hello=b"", payload=b"", ephemeral=None):
        self.host, self.hello, self.payload = host, hello, payload
        self.requests_itself = payload != b""
        super().__init__(static, key, True, ephemeral=ephemeral)

    def begin(self, offer, pattern=None, after=b""):
        super().begin(CHACHA | WITH_KNOWN_HOST, pattern or b"IK", after or self.hello)

    def first(self):
        self.mix_hash(self.host)
        public = public_key(self.ephemeral)
        self.mix_hash(public)
        self.mix_key(dh(self.ephemeral, self.host))
        static = self.encrypt(public_key(self.static))
        self.mix_key(dh(self.static, self.host))
        self.message = bytes([self.offer]) + public + static + self.encrypt(self.payload)
        return self.message

    def ends_with(self, answer):
        return len(answer) == self.ANSWER

    def third(self, message):
        """Reads the responder's message, and sets `keys`. If the host has the known key, there is
        no message after it; otherwise returns the initiator's last, as in XX."""
        if not self.ends_with(message):
            self.requests_itself = False
            self.begin(self.offer, b"XX", self.hello + self.message)
            self.mix_hash(public_key(self.ephemeral))
            self.mix_hash(b"")
            return super().third(message)
        self.mix_hash(message[:32])
        self.mix_key(dh(self.ephemeral, message[:32]))
        self.mix_key(dh(self.static, message[:32]))
        if self.decrypt(message[32:]) != bytes([CHACHA]):
            raise Broken("a choice that was not offered")
        self.keys = Keys(self.chaining, True, identifier(self.host))
        return b""


class TokenHandshake(Handshake):
    """One side of a handshake with a connect token, which has two messages."""

    uses_token = requests_itself = True

    def __init__(self, security, key, is_initiator, payload=b""):
        self.token, self.backend, self.host = security.token, security.backend, security.identifier
        self.payload = payload
        super().__init__(None, key, is_initiator)

    def begin(self, offer, pattern=None, after=b""):
        super().begin(offer | WITH_TOKEN)

    def first(self):
        self.mix_shared(self.token.key)
        public = public_key(self.ephemeral)
        self.mix_ephemeral(public)
        ticket = self.token.ticket
        return (bytes([self.offer]) + struct.pack("<H", len(ticket)) + ticket + public
                + self.encrypt(self.payload))

    def second(self, message, hello=b""):
        """Reads the initiator's message and sets `payload`, `ticket` and `keys`; returns the
        responder's message. The ticket has not been used yet."""
        if len(message) < 3 or not message[0] & CHACHA or message[0] & 0xF0 != WITH_TOKEN:
            raise Broken("a handshake of another kind")
        self.begin(message[0])
        (length,) = struct.unpack_from("<H", message, 1)
        if len(message) < 3 + length + 32:
            raise Broken("a message that is too short")
        self.ticket = self.backend.open(message[3 : 3 + length])
        self.mix_shared(self.ticket.key)
        remote = message[3 + length : 35 + length]
        self.mix_ephemeral(remote)
        self.payload = self.decrypt(message[35 + length :])
        public = public_key(self.ephemeral)
        self.mix_ephemeral(public)
        self.mix_key(dh(self.ephemeral, remote))
        answer = public + self.encrypt(bytes([CHACHA]) + self.host)
        self.keys = Keys(self.chaining, False, self.ticket.player)
        return answer

    def ends_with(self, answer):
        return True

    def third(self, message):
        """Reads the responder's message, and sets `keys`. There is no message after it."""
        self.mix_ephemeral(message[:32])
        self.mix_key(dh(self.ephemeral, message[:32]))
        choice = self.decrypt(message[32:])
        if choice[:1] != bytes([CHACHA]) or len(choice) != 17:
            raise Broken("a choice that was not offered")
        self.keys = Keys(self.chaining, True, choice[1:])
        return b""


class Security:
    """A peer's key or id, the code or token that both sides need, and when keys are replaced.
    `token` is a client's token as text, `backend` the key of a host's backend, `host` the key that
    a client believes the host to have."""

    def __init__(
            self, code=None, lifetime=None, token=None, player=None, backend=None, host=None):
        self.host = host
        self.lifetime = lifetime or 2**22  # of a key, in packets
        self.static = os.urandom(32)
        self.code = code.upper().replace("-", "").encode() if code else None
        self.token, self.backend = token and Token(token), backend and Backend(backend)
        self.identifier = player or identifier(public_key(self.static))

    @property
    def uses_token(self):
        return self.token is not None or self.backend is not None

    def begin(self, key, is_initiator, payload=b"", hello=b""):
        """`payload` is that of the first message with a token, or with a known host, which is
        bound to `hello`."""
        if self.uses_token:
            return TokenHandshake(self, key, is_initiator, payload)
        if self.host and is_initiator:
            return KnownHostHandshake(self.static, key, self.host, hello, payload)
        return Handshake(self.static, key, is_initiator, self.code)
