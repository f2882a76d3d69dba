"""The players: the targets of their mallets, their requests, and the words of a match."""

import struct

from inputs import MOST_X, MOST_Y
from rink import HALF_LENGTH, MALLET_RADIUS, MATCH_OVER, REST, SIDES, metres
from wire import Broken

FINISH, ENDED, PLAYING = 0, 1, 2
NAME_LIMIT = 63  # bytes of UTF-8
RESTED = 180  # Ticks after the end of a match until the host requests the next.


class Player:
    """Guards its goal at the puck's y, and strikes when the puck is in its half."""

    def __init__(self, seat):
        self.seat, self.requests = seat, []

    def input(self, rink):
        x, y = self.target(rink)
        request = self.requests.pop(0) if self.requests else 0
        return self.bounded(x, MOST_X), self.bounded(y, MOST_Y), 2 * request + 1

    def target(self, rink):
        side, place = SIDES[self.seat], metres(rink.mallets[self.seat][0])
        puck, velocity = map(metres, rink.puck), [metres(part) for part in rink.velocity]
        x, y = (part + speed / 30 for part, speed in zip(puck, velocity))
        if 0 < side * x < side * place and side * velocity[0] < 2:
            return x, y
        if side * x >= side * place:
            return side * (HALF_LENGTH - MALLET_RADIUS), 0.0
        return side * REST, y * 0.7

    @staticmethod
    def bounded(place, most):
        """Converts metres to half millimetres, within the range."""
        return min(max(round(place * 2_000), -most), most)


class Rest:
    """Counts the ticks since the end of a match, except while it is paused."""

    def __init__(self):
        self.ticks = 0

    def is_over(self, rink):
        """Whether the next match is due; called once per tick."""
        if rink.phase != MATCH_OVER:
            self.ticks = 0
        elif not rink.held:
            self.ticks += 1
        return self.ticks >= RESTED


def finish_word():
    return bytes([FINISH])


def ended_word(rink):
    return struct.pack("<BHBB", ENDED, rink.match, *rink.score)


def read_finish(reader):
    if reader.byte() != FINISH:
        raise Broken("a word that a client does not send")
    reader.end()


def read_ended(reader):
    """The number of the match, and its score, after the word."""
    match, *score = reader.unpack("HBB")
    reader.end()
    return match, score


def playing_word(home, away):
    home, away = home.encode(), away.encode()
    return bytes([PLAYING, len(home)]) + home + away


def read_playing(reader):
    """The names of home and away, after the word; that of a seat that nobody plays is empty."""
    names = reader.take(reader.byte()), reader.rest()
    if max(map(len, names)) > NAME_LIMIT:
        raise Broken("a name that is too long")
    try:
        return [name.decode() for name in names]
    except UnicodeDecodeError:
        raise Broken("a name that is not UTF-8") from None
