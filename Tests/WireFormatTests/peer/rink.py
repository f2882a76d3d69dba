"""The game: its state, made of integers, and its exact step, with the operations in the order of
the WireFormat page."""

import struct

from inputs import RESTART, NEXT_MATCH, PAUSE, RESUME
from physics import Disc, Drag, Table, Vector
from puck import Surface
from wire import Broken

HALF_LENGTH, HALF_WIDTH, MOUTH = 0.974, 0.519, 0.125
PUCK_RADIUS, MALLET_RADIUS, PUCK_SPEED, MALLET_SPEED = 0.03165, 0.04815, 15.0, 7.5
WAITING, SERVE_PLACE, REST = 0.55, 0.40, 0.75
STEP = 1.0 / 60
SURFACE = Surface(
    Table(HALF_LENGTH, HALF_WIDTH, MOUTH), Drag(0.23), STEP, rail=0.93, mallet=0.93, friction=0.12,
    cap=PUCK_SPEED)
FACE_OFF, SERVE, PLAYING, GOAL_PAUSE, FOUL_PAUSE, MATCH_OVER = range(6)
HOME, AWAY, NO_SEAT = 0, 1, 255
SIDES = (-1.0, 1.0)
WINS = 7
# By phase: the valid seats, and the range of remaining ticks.
PHASES = [
    ((255,), 1, 180), ((0, 1), 1, 600), ((0, 1, 255), 1, 420), ((0, 1), 1, 90), ((0, 1), 1, 60),
    ((0, 1), 0, 0)]
LAYOUT = "<QBBHBHBB9q"
MASK = (1 << 64) - 1


def units(value):
    """A double rounded to steps of 2^-32, ties to even."""
    assert abs(value) <= 2.0**18
    return int((value * 2.0**32 + 1.5 * 2.0**52) - 1.5 * 2.0**52)


def metres(steps):
    return steps * 2.0**-32


def clamp(value, low, high):
    return min(max(value, low), high)


PUCK_X, PUCK_Y = units(HALF_LENGTH), units(HALF_WIDTH - PUCK_RADIUS)
FASTEST, MOST_SPIN = units(PUCK_SPEED), units(1024)
MALLET_NEAR, MALLET_FAR = units(MALLET_RADIUS), units(HALF_LENGTH - MALLET_RADIUS)
MALLET_Y = units(HALF_WIDTH - MALLET_RADIUS)


def face_off_ticks(match):
    return 60 + ((match * 0x9E3779B1 & 0xFFFFFFFF) >> 16) % 121


class Rink:
    """The state: positions and velocities in steps of 2^-32, `mallets` by seat."""

    def __init__(self, match=1):
        self.tick, self.match, self.held, self.score = 0, match, 0, [0, 0]
        self.phase, self.seat, self.remaining = FACE_OFF, NO_SEAT, face_off_ticks(match)
        self.puck, self.velocity, self.spin = (0, 0), (0, 0), 0
        self.mallets = [(units(side * REST), 0) for side in SIDES]

    # Bytes.

    @property
    def bytes(self):
        return struct.pack(
            LAYOUT, self.tick, self.phase, self.seat, self.remaining, self.held, self.match,
            *self.score, *self.puck, *self.velocity, self.spin, *self.mallets[0], *self.mallets[1])

    @classmethod
    def read(cls, reader):
        rink = cls()
        (rink.tick, rink.phase, rink.seat, rink.remaining, rink.held, rink.match,
         *numbers) = reader.unpack(LAYOUT[1:])
        rink.score, rink.puck, rink.velocity = numbers[:2], tuple(numbers[2:4]), tuple(numbers[4:6])
        rink.spin, rink.mallets = numbers[6], [tuple(numbers[7:9]), tuple(numbers[9:])]
        rink.check()
        return rink

    def check(self):
        seats, low, high = PHASES[self.phase] if self.phase < len(PHASES) else ((), 0, 0)
        wins = [self.phase == MATCH_OVER and self.seat == seat for seat in (HOME, AWAY)]
        holds = [
            self.seat in seats and low <= self.remaining <= high, self.held <= 3,
            [goals == WINS for goals in self.score] == wins and max(self.score) <= WINS,
            abs(self.puck[0]) <= PUCK_X and abs(self.puck[1]) <= PUCK_Y,
            max(map(abs, self.velocity)) <= FASTEST and abs(self.spin) <= MOST_SPIN]
        for seat, (x, y) in enumerate(self.mallets):
            forward = -x if seat == HOME else x
            holds.append(MALLET_NEAR <= forward <= MALLET_FAR and abs(y) <= MALLET_Y)
        if not all(holds):
            raise Broken(f"a state that cannot be: {holds}")

    @property
    def hash(self):
        words = (
            self.tick, self.phase | self.seat << 8 | self.remaining << 16,
            self.held | self.match << 16, self.score[0] | self.score[1] << 8, *self.puck,
            *self.velocity, self.spin, *self.mallets[0], *self.mallets[1])
        value = 0xCBF29CE484222325
        for word in words:
            value = (value ^ word & MASK) * 0x9FB21C651E98DF25 & MASK
            value ^= value >> 32
        return value

    # A tick.

    @property
    def live(self):
        return self.phase in (SERVE, PLAYING)

    def step(self, inputs):
        """Simulates one tick with one input per seat; home's request takes effect first."""
        for seat in (HOME, AWAY):
            self.carry_out(inputs[seat][2] >> 1, seat)
        wanted = [self.wanted(inputs[seat], seat) for seat in (HOME, AWAY)]
        self.tick += 1
        if self.held:
            return
        scored = touched = False
        mallets = [self.mallet(seat, wanted[seat]) for seat in (HOME, AWAY)]
        if self.live:
            scored, touched = self.play(*mallets)
        else:
            for mallet in mallets:
                mallet.position = mallet.position + mallet.velocity * STEP
        self.place(mallets)
        if not scored:
            self.go_on(touched)

    def carry_out(self, request, seat):
        bit = 1 << seat
        if request == PAUSE:
            self.held |= bit
        elif request == RESUME:
            self.held &= ~bit
        elif request == NEXT_MATCH and self.phase == MATCH_OVER:
            held = self.held
            self.start_match()
            self.held = held
        elif request == RESTART and seat == HOME:
            self.start_match()

    def start_match(self):
        """Starts the next match at 0-0 without a pause; the tick and the mallets stay."""
        tick, mallets = self.tick, self.mallets
        self.__init__((self.match + 1) & 0xFFFF)
        self.tick, self.mallets = tick, mallets

    def wanted(self, data, seat):
        """The target of the player's mallet, in tenths of a millimetre."""
        if data[2] & 1:
            return data[0] * 5, data[1] * 5
        place = [clamp(metres(part), -1.0, 1.0) * 10_000.0 for part in self.mallets[seat]]
        x, y = (int(part - 0.5 if part < 0 else part + 0.5) for part in place)
        return clamp(x, -9740, 9740), clamp(y, -5190, 5190)

    def mallet(self, seat, wanted):
        """The mallet with the velocity that takes it to its target, within its limits."""
        position, side = Vector(*map(metres, self.mallets[seat])), SIDES[seat]
        near, far = MALLET_RADIUS if self.live else WAITING, HALF_LENGTH - MALLET_RADIUS
        width = HALF_WIDTH - MALLET_RADIUS
        goal = Vector(
            side * clamp(wanted[0] / 10_000 * side, near, far),
            clamp(wanted[1] / 10_000, -width, width))
        way = (goal - position).limited(MALLET_SPEED * STEP)
        return Disc(position, way * 60.0, MALLET_RADIUS)

    def play(self, first, second):
        puck = Disc(
            Vector(*map(metres, self.puck)), Vector(*map(metres, self.velocity)), PUCK_RADIUS,
            metres(self.spin))
        touched, goal = SURFACE.advance(puck, first, second)
        velocity = puck.velocity.limited(PUCK_SPEED)
        self.puck = (
            clamp(units(puck.position.x), -PUCK_X, PUCK_X),
            clamp(units(puck.position.y), -PUCK_Y, PUCK_Y))
        self.velocity = tuple(
            clamp(units(part), -FASTEST, FASTEST) for part in (velocity.x, velocity.y))
        self.spin = clamp(units(puck.spin), -MOST_SPIN, MOST_SPIN)
        if goal:
            self.count_goal(AWAY if goal < 0 else HOME)
        return goal != 0, touched

    def place(self, mallets):
        for seat, mallet in enumerate(mallets):
            x, y = units(mallet.position.x), units(mallet.position.y)
            forward = clamp(-x if seat == HOME else x, MALLET_NEAR, MALLET_FAR)
            x = -forward if seat == HOME else forward
            self.mallets[seat] = (x, clamp(y, -MALLET_Y, MALLET_Y))

    # Rules.

    def set(self, phase, seat, remaining):
        self.phase, self.seat, self.remaining = phase, seat, remaining

    def count_goal(self, scorer):
        self.velocity, self.spin = (0, 0), 0
        self.score[scorer] += 1
        if self.score[scorer] >= WINS:
            self.set(MATCH_OVER, scorer, 0)
        else:
            self.set(GOAL_PAUSE, scorer, 90)

    @property
    def half(self):
        x = self.puck[0]
        return NO_SEAT if x == 0 else HOME if x < 0 else AWAY

    def go_on(self, touched):
        """Advances the phase by one tick."""
        if self.phase == MATCH_OVER:
            return
        if self.phase == SERVE and touched or self.phase == PLAYING and self.half != self.seat:
            self.set(PLAYING, self.half, 420)
        elif self.remaining > 1:
            self.remaining -= 1
        elif self.phase == FACE_OFF:
            self.set(PLAYING, NO_SEAT, 420)
        elif self.phase in (GOAL_PAUSE, FOUL_PAUSE):
            self.serve(1 - self.seat)
        elif self.seat != NO_SEAT:
            self.velocity, self.spin = (0, 0), 0
            self.set(FOUL_PAUSE, self.seat, 60)
        else:  # the puck was on the centre line all the time
            self.puck, self.velocity, self.spin = (0, 0), (0, 0), 0
            self.set(FACE_OFF, NO_SEAT, face_off_ticks(self.match))

    def serve(self, seat):
        self.puck, self.velocity, self.spin = (units(SIDES[seat] * SERVE_PLACE), 0), (0, 0), 0
        self.set(SERVE, seat, 600)


class Tally:
    """Counts the events in the steps of a game."""

    def __init__(self):
        self.ticks = self.goals = self.fouls = self.pauses = self.matches = self.wins = 0

    def step(self, rink, inputs):
        match, phase, goals, held = rink.match, rink.phase, sum(rink.score), rink.held
        rink.step(inputs)
        self.ticks += 1
        self.matches += rink.match != match
        self.goals += rink.match == match and sum(rink.score) > goals
        self.wins += rink.phase == MATCH_OVER != phase
        self.fouls += rink.phase == FOUL_PAUSE != phase
        self.pauses += (rink.held & ~held).bit_count()
