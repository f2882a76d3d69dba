"""The messages of one connection: sends each until it is acknowledged, and delivers each once."""

import collections

from wire import (
    CREDIT, MESSAGE_LIMIT, RELIABLE_ORDERED, RELIABLE_SEQUENCED,
    RELIABLE_UNORDERED, SESSION_CHANNEL, UNRELIABLE, UNRELIABLE_SEQUENCED, Broken, expand)

WINDOW = 262_144
CHARGE = 64
OUTSTANDING = 4_096
LATEST_LIMIT = 65_536
PARTIALS = 4
PIECE_LENGTH = 1_000
LONGEST_WHOLE = 1_100
COUNTED = (RELIABLE_ORDERED, RELIABLE_UNORDERED)
SEQUENCED = (UNRELIABLE_SEQUENCED, RELIABLE_SEQUENCED)


class Item:
    """A message, or a fragment of one, that is sent in one frame."""

    def __init__(self, message, offset, payload):
        self.message, self.offset, self.payload = message, offset, payload
        self.has_left = self.done = False


class Message:
    def __init__(self, channel, mode, payload):
        self.channel, self.mode, self.total, self.number = channel, mode, len(payload), None
        if len(payload) <= LONGEST_WHOLE:
            self.items = [Item(self, None, payload)]
        else:
            starts = range(0, len(payload), PIECE_LENGTH)
            self.items = [Item(self, at, payload[at : at + PIECE_LENGTH]) for at in starts]

    @property
    def lane(self):
        return self.channel, self.mode

    @property
    def reliable(self):
        return self.mode >= RELIABLE_ORDERED


class Lane:
    """The receiving state of one channel and mode."""

    def __init__(self, channel, mode):
        self.channel, self.mode, self.due = channel, mode, 0
        self.whole, self.partial = {}, {}


class Channels:
    def __init__(self):
        self.waiting = collections.deque()
        self.numbers = collections.Counter()
        self.unacknowledged = collections.defaultdict(dict)  # items by message number
        self.left = 0  # number of unacknowledged items of reliable messages
        self.sent, self.may_send = collections.Counter(), collections.defaultdict(lambda: WINDOW)
        self.lanes, self.partials = {}, collections.deque()
        self.came, self.taken, self.reserved = (collections.Counter() for _ in range(3))
        self.told = collections.defaultdict(lambda: WINDOW)
        self.credits_due = set()
        self.ready, self.session = collections.deque(), collections.deque()
        self.resent = 0

    # Sending.

    def send(self, channel, mode, payload):
        message = Message(channel, mode, payload)
        if mode in SEQUENCED:
            self.drop(lambda old: old.number is None and old.lane == message.lane)
        self.waiting.extend(message.items)
        self.left += len(message.items) if message.reliable else 0

    def drop(self, is_stale):
        """Drops messages that were not sent yet."""
        stale = [item for item in self.waiting if is_stale(item.message)]
        self.waiting = collections.deque(item for item in self.waiting if item not in stale)
        self.left -= sum(item.message.reliable for item in stale)

    def drop_all(self):
        """Drops messages that were not acknowledged too."""
        for messages in self.unacknowledged.values():
            for item in (item for message in messages.values() for item in message.items):
                item.done = True
            messages.clear()
        self.waiting.clear()
        self.left = 0

    @property
    def drained(self):
        return self.left == 0

    @property
    def pending(self):
        return bool(self.waiting or self.credits_due)

    def fill(self, writer):
        """Writes frames to a packet; returns a record of each frame to be acknowledged or lost."""
        records = []
        for channel in sorted(self.credits_due):
            limit = self.limit(channel)
            if writer.credit(channel, limit):
                self.credits_due.discard(channel)
                self.told[channel] = limit
                records.append(("credit", channel))
        kept = collections.deque()
        blocked = set()
        while self.waiting and writer.room > 16:
            item = self.waiting.popleft()
            lane = item.message.lane
            if item.done:
                continue
            if lane in blocked or not self.write(item, writer):
                blocked.add(lane)
                kept.append(item)
            elif item.message.reliable:
                records.append(("item", item))
        self.waiting = kept + self.waiting
        return records

    def write(self, item, writer):
        message = item.message
        channel, mode, lane = message.channel, message.mode, message.lane
        number, is_first = message.number, message.number is None
        if is_first:
            number = self.numbers[lane]
            lowest = next(iter(self.unacknowledged[lane]), number)
            if number - lowest >= OUTSTANDING:
                return False
        cost = 0 if mode not in COUNTED or item.has_left else len(item.payload) + CHARGE * is_first
        if self.sent[channel] + cost > self.may_send[channel]:
            return False
        if item.offset is None:
            is_written = writer.message(channel, mode, number, item.payload)
        else:
            is_written = writer.piece(
                channel, mode, number, item.payload, item.offset, message.total)
        if not is_written:
            return False
        self.sent[channel] += cost
        item.has_left = True
        if is_first:
            message.number = number
            self.numbers[lane] += mode != UNRELIABLE or item.offset is not None
            if message.reliable:
                self.unacknowledged[lane][number] = message
        return True

    def acknowledged(self, record):
        kind, item = record
        if kind != "item" or item.done:
            return
        item.done = True
        self.left -= 1
        if all(other.done for other in item.message.items):
            del self.unacknowledged[item.message.lane][item.message.number]

    def lost(self, record):
        kind, item = record
        if kind == "credit":
            self.credits_due.add(item)
        elif kind == "item" and not item.done:
            self.resent += 1
            self.waiting.appendleft(item)

    # Receiving.

    def take(self, frame):
        """Receives a frame other than an acknowledgement."""
        if frame.kind == CREDIT:
            self.may_send[frame.channel] = max(self.may_send[frame.channel], frame.limit)
        elif frame.kind == "message":
            self.take_message(frame)

    def take_message(self, frame):
        key = (frame.channel, frame.mode)
        lane = self.lanes.setdefault(key, Lane(*key))
        if frame.total > (MESSAGE_LIMIT if frame.mode in COUNTED else LATEST_LIMIT):
            raise Broken(f"a message of {frame.total} bytes in mode {frame.mode}")
        number = expand(frame.number, 16, lane.due)
        if frame.mode == UNRELIABLE:
            return self.take_latest(lane, frame, frame.number)
        if number < lane.due or number in lane.whole:
            return None
        if frame.mode in SEQUENCED:
            return self.take_latest(lane, frame, number)
        if number >= lane.due + OUTSTANDING:
            raise Broken(f"message {number}, and {lane.due} is missing")
        payload = self.join(lane, frame, number)
        if payload is None:
            return None
        lane.whole[number] = payload
        if frame.mode == RELIABLE_UNORDERED:
            self.hand_on(lane, payload)
            lane.whole[number] = None
        while lane.due in lane.whole:
            payload = lane.whole.pop(lane.due)
            lane.due += 1
            if payload is not None:
                self.hand_on(lane, payload)
        return None

    def take_latest(self, lane, frame, number):
        payload = self.join(lane, frame, number)
        if payload is None:
            return
        if frame.mode in SEQUENCED:
            lane.due = number + 1
            for old in [old for old in lane.partial if old <= number]:
                del lane.partial[old]
        self.hand_on(lane, payload)

    def join(self, lane, frame, number):
        """The whole message once all fragments have arrived, else None."""
        part = lane.partial.get(number)
        if frame.offset is None:
            lane.partial.pop(number, None)
            known = 0 if part is None else len(part[1]) + CHARGE
            self.count(lane, len(frame.payload) + CHARGE - known)
            self.reserve(lane, 0 if part is None else -frame.total)
            return frame.payload
        if part is None:
            part = lane.partial[number] = (frame.total, {})
            self.count(lane, CHARGE)
            self.reserve(lane, frame.total)
            self.note_partial(lane, number)
        total, known = part
        if total != frame.total:
            raise Broken(f"pieces of {total} and of {frame.total} bytes")
        fresh = {
            at: byte for at, byte in enumerate(frame.payload, frame.offset) if at not in known}
        self.count(lane, len(fresh))
        known.update(fresh)
        if len(known) < total:
            return None
        del lane.partial[number]
        self.reserve(lane, -total)
        return bytes(known[at] for at in range(total))

    def note_partial(self, lane, number):
        if lane.mode > UNRELIABLE_SEQUENCED:
            return
        self.partials.append((lane, number))
        if len(self.partials) > PARTIALS:
            old, gone = self.partials.popleft()
            old.partial.pop(gone, None)

    def count(self, lane, count):
        if lane.mode not in COUNTED:
            return
        self.came[lane.channel] += count
        if self.came[lane.channel] > self.told[lane.channel]:
            raise Broken(f"channel {lane.channel}: more than its credit")

    def reserve(self, lane, count):
        if lane.mode in COUNTED and count:
            self.reserved[lane.channel] += count
            if count > 0:
                self.credits_due.add(lane.channel)

    def limit(self, channel):
        """The credit limit of a channel: a window beyond what was delivered."""
        return max(self.told[channel], WINDOW + self.taken[channel] + self.reserved[channel])

    def hand_on(self, lane, payload):
        if lane.mode in COUNTED:
            self.taken[lane.channel] += len(payload) + CHARGE
            if self.limit(lane.channel) - self.told[lane.channel] >= WINDOW // 4:
                self.credits_due.add(lane.channel)
        if lane.channel == SESSION_CHANNEL:
            self.session.append(payload)
        else:
            self.ready.append((lane.channel, lane.mode, payload))
