"""The game: what a guest may believe, how one plays, and a table with simple physics."""

import random

HALF_LENGTH, HALF_WIDTH, MOUTH = 0.974, 0.519, 0.125
MALLET_RADIUS, PUCK_RADIUS, MALLET_SPEED, PUCK_SPEED = 0.04815, 0.03165, 7.5, 15.0
WAITING, SERVE_PLACE, REST = 0.55, 0.40, 0.75
STEP = 2.0**-32
MATCH_BEGINS, GOAL, PAUSED, RESUMED, MATCH_ENDED, SESSION_ENDED = 1, 2, 3, 4, 5, 6
FACE_OFF, SERVE, PLAYING, GOAL_PAUSE, FOUL_PAUSE, MATCH_OVER = range(6)
PAUSE, RESUME, NEXT_MATCH, FINISH = range(4)
HOME, AWAY, NO_SEAT = 0, 1, 255
# By phase: the seats that it may name, and the ticks that may remain of it.
PHASES = [
    ((255,), 1, 180), ((0, 1), 1, 600), ((0, 1, 255), 1, 420), ((0, 1), 1, 90), ((0, 1), 1, 60),
    ((0, 1), 0, 0),
]


class Referee:
    """Checks a host's states and events against the page."""

    def __init__(self):
        self.violations, self.states, self.goals, self.pauses = [], 0, 0, 0
        self.state, self.match, self.event_tick, self.score = None, None, 0, (0, 0)
        self.over = self.session_ended = False
        # What the states and the events tell, to be compared when all of both are there.
        self.told, self.events = [], []

    def check(self, holds, what):
        if not holds and len(self.violations) < 20:
            self.violations.append(what)

    def read_state(self, reader, sent_tick):
        host_time, echo, tick = reader.unpack("qQQ")
        phase, seat, remaining, held, mallets, match, *score = reader.unpack("BBHBBHBB")
        puck, velocity, spin = reader.unpack("qq"), reader.unpack("qq"), reader.unpack("q")
        home = reader.unpack("qq")
        reader.end()
        self.states += 1
        last, x, y = self.state, puck[0] * STEP, puck[1] * STEP
        seats, low, high = PHASES[phase] if phase < len(PHASES) else ((), 0, 0)
        self.check(seat in seats, f"phase {phase} of seat {seat}")
        self.check(low <= remaining <= high, f"{remaining} ticks of phase {phase}")
        self.check(held <= 3 and mallets == 1, f"held by {held}, mallets {mallets}")
        self.check(echo <= sent_tick, f"echo of tick {echo}, sent {sent_tick}")
        wins = [goals == 7 for goals in score]
        self.check(wins == [phase == MATCH_OVER and seat == of for of in (0, 1)], f"won: {score}")
        self.check(max(score) <= 7, f"score {score}")
        self.check_puck(x, y, velocity, spin[0])
        mallet = [value * STEP for value in home]
        self.check_within(-mallet[0], MALLET_RADIUS, HALF_LENGTH - MALLET_RADIUS, "home's x")
        self.check_within(abs(mallet[1]), 0, HALF_WIDTH - MALLET_RADIUS, "home's y")
        if last is not None:
            self.check(tick > last["tick"], f"tick {tick} after {last['tick']}")
            self.check(host_time >= last["time"], f"host's clock fell at tick {tick}")
            self.check(echo >= last["echo"], f"echo {echo} after {last['echo']}")
            self.check(match >= last["match"], f"match {match} after {last['match']}")
            frozen = (puck, velocity, phase, remaining) == last["scene"]
            self.check(frozen or not (held and last["held"]), f"held, but {tick} is not {last}")
        self.told.append((tick, match, tuple(score)))
        self.state = dict(tick=tick, time=host_time, echo=echo, match=match, held=held)
        self.state["scene"] = (puck, velocity, phase, remaining)
        return (x, y), [value * STEP for value in velocity]

    def check_within(self, value, low, high, what):
        """Places are rounded to a step, and so are the bounds."""
        self.check(low - STEP <= value <= high + STEP, f"{what} is {value}")

    def check_puck(self, x, y, velocity, spin):
        self.check_within(abs(x), 0, HALF_LENGTH, "the puck's x")
        self.check_within(abs(y), 0, HALF_WIDTH - PUCK_RADIUS, "the puck's y")
        self.check_within(max(abs(v) for v in velocity) * STEP, 0, 15, "the puck's velocity")
        self.check_within(abs(spin) * STEP, 0, 1024, "the puck's spin")

    def read_event(self, reader):
        tick, kind, seat, match, *score = reader.unpack("QBBHBB")
        reader.end()
        score = tuple(score)
        self.events.append((tick, kind, match, score))
        self.check(not self.session_ended, f"event {kind} after the session's end")
        self.check(tick >= self.event_tick, f"event at tick {tick} after {self.event_tick}")
        self.check(1 <= kind <= 6, f"event {kind}")
        self.check(seat <= 1 and (seat == 0 or kind not in (1, 6)), f"event {kind}, seat {seat}")
        self.event_tick = tick
        if kind == MATCH_BEGINS:
            self.check(self.match in (None, match - 1), f"match {match} after {self.match}")
            self.check(self.match is None or self.over, f"match {self.match} never ended")
            self.check(score == (0, 0), f"match {match} begins at {score}")
            self.match, self.score, self.over = match, score, False
            return
        self.check(match == self.match, f"event {kind} of match {match} in {self.match}")
        if kind == GOAL:
            expected = (self.score[0] + (seat == 0), self.score[1] + (seat == 1))
            self.check(score == expected, f"goal of {seat} makes {score}, not {expected}")
            self.check(not self.over, "a goal after the match's end")
            self.goals += 1
        else:
            self.check(score == self.score, f"event {kind}: {score}, not {self.score}")
        self.pauses += kind == PAUSED
        if kind == MATCH_ENDED:
            self.check(score[seat & 1] == 7, f"match won by {seat} at {score}")
            self.over = True
        self.session_ended = kind == SESSION_ENDED
        self.score = score

    def compare(self):
        """Every state holds the goals of its tick and before, and at most what its tick holds."""
        for tick, match, score in self.told:
            held = [place for place, event in enumerate(self.events) if event[0] < tick or (
                event[0] == tick and event[1] == GOAL)]
            possible = [place for place, event in enumerate(self.events) if event[0] <= tick]
            first, last = (held or [-1])[-1], (possible or [-1])[-1]
            allowed = [event[2:] for event in self.events[max(first, 0) : last + 1]]
            self.check((match, score) in allowed, f"state {tick}: {match}, {score}, not {allowed}")


def towards(place, goal, side, in_play):
    """Where a mallet is a tick later; `side` is -1 for home, 1 for away."""
    near, far = MALLET_RADIUS if in_play else WAITING, HALF_LENGTH - MALLET_RADIUS
    width = HALF_WIDTH - MALLET_RADIUS
    x, y = side * min(max(side * goal[0], near), far), min(max(goal[1], -width), width)
    distance = ((x - place[0]) ** 2 + (y - place[1]) ** 2) ** 0.5
    share = min(1, MALLET_SPEED / 60 / distance) if distance > 0 else 0
    return place[0] + (x - place[0]) * share, place[1] + (y - place[1]) * share


class Player:
    """Guards its goal at the puck's height and strikes when the puck is in its half."""

    def __init__(self, side):
        self.side, self.place = side, (side * REST, 0.0)

    def target(self, puck, velocity):
        side = self.side
        x, y = side * (puck[0] + velocity[0] / 30), puck[1] + velocity[1] / 30
        if 0 < x < side * self.place[0] and side * velocity[0] < 2:
            goal = (side * x, y)
        elif x >= side * self.place[0]:
            goal = (side * (HALF_LENGTH - MALLET_RADIUS), 0.0)
        else:
            goal = (side * REST, y * 0.7)
        self.place = towards(self.place, goal, side, True)
        return goal


class Table:
    """A host's table: the rules of the page, with a physics of its own."""

    def __init__(self):
        self.tick, self.match, self.score, self.held = 0, 1, [0, 0], 0
        self.mallets = [(-REST, 0.0), (REST, 0.0)]
        self.wanted = self.mallets[AWAY]
        self.puck, self.velocity = (0.0, 0.0), (0.0, 0.0)
        self.phase, self.seat, self.remaining, self.rested = FACE_OFF, NO_SEAT, 60, 0
        self.events = []
        self.note(MATCH_BEGINS)

    def note(self, kind, seat=0):
        self.events.append((self.tick, kind, seat, self.match, *self.score))

    def set(self, phase, seat, remaining, x=None):
        self.phase, self.seat, self.remaining = phase, seat, remaining
        if x is not None:
            self.puck = (x, 0.0)
        self.velocity = (0.0, 0.0)

    def ask(self, request):
        """What the guest asks for; what changes nothing makes no event."""
        if request == PAUSE and not self.held & 2:
            self.held |= 2
            self.note(PAUSED, AWAY)
        elif request == RESUME and self.held & 2:
            self.held &= ~2
            self.note(RESUMED, AWAY)
        elif request == NEXT_MATCH and self.phase == MATCH_OVER:
            self.start_match()

    def start_match(self):
        self.match, self.score, self.rested = self.match % 65_535 + 1, [0, 0], 0
        self.set(FACE_OFF, NO_SEAT, 60, 0.0)
        self.note(MATCH_BEGINS)

    def step(self, home):
        """One tick; `home` is where home's mallet shall go."""
        self.tick += 1
        if self.held:
            return
        in_play = self.phase in (SERVE, PLAYING)
        before = self.mallets
        self.mallets = [
            towards(before[HOME], home, -1, in_play),
            towards(before[AWAY], self.wanted, 1, in_play)]
        if self.phase == MATCH_OVER:
            self.rested += 1
            if self.rested == 180:
                self.start_match()
            return
        if in_play:
            self.move(before)
        if self.phase in (SERVE, PLAYING) and in_play:
            self.follow()
        elif not in_play:
            self.wait()

    def wait(self):
        """The phases in which the puck rests."""
        self.remaining -= 1
        if self.remaining > 0:
            return
        if self.phase == FACE_OFF:
            self.set(PLAYING, NO_SEAT, 420)
            self.velocity = (random.choice((-0.3, 0.3)), random.uniform(-0.3, 0.3))
        else:
            server = 1 - self.seat
            self.set(SERVE, server, 600, SERVE_PLACE * (1 if server == AWAY else -1))

    def follow(self):
        """How long the puck is in a half."""
        half = NO_SEAT if self.puck[0] == 0 else HOME if self.puck[0] < 0 else AWAY
        is_served = self.phase == PLAYING or self.velocity != (0.0, 0.0)
        if not is_served or self.phase == PLAYING and half == self.seat:
            self.remaining -= 1
        else:
            self.phase, self.seat, self.remaining = PLAYING, half, 420
        if self.remaining == 0:
            self.set(FOUL_PAUSE, HOME if self.seat == NO_SEAT else self.seat, 60)

    def move(self, mallets_before):
        for _ in range(4):
            if self.phase not in (SERVE, PLAYING):
                return
            self.slide(1 / 240)
            for seat, mallet in enumerate(self.mallets):
                speed = [(now - then) * 60 for now, then in zip(mallet, mallets_before[seat])]
                self.strike(mallet, speed)

    def slide(self, time):
        (x, y), (vx, vy) = self.puck, self.velocity
        x, y = x + vx * time, y + vy * time
        side, width = 1 if x > 0 else -1, HALF_WIDTH - PUCK_RADIUS
        if abs(y) > width:
            y, vy = (2 * width - abs(y)) * (1 if y > 0 else -1), -0.93 * vy
        if abs(x) >= HALF_LENGTH - 1e-9 and abs(y) < MOUTH:
            return self.goal(HOME if side > 0 else AWAY, side * HALF_LENGTH, y)
        far = HALF_LENGTH - PUCK_RADIUS
        if abs(x) > far and abs(y) >= MOUTH:
            x, vx = side * (2 * far - min(abs(x), HALF_LENGTH)), -0.93 * abs(vx) * side
        self.puck, self.velocity = (x, y), (vx, vy)

    def strike(self, mallet, speed):
        """A mallet pushes the puck out of its way."""
        away = [puck - place for puck, place in zip(self.puck, mallet)]
        distance = (away[0] ** 2 + away[1] ** 2) ** 0.5
        reach = MALLET_RADIUS + PUCK_RADIUS
        if distance >= reach or distance == 0 or self.phase not in (SERVE, PLAYING):
            return
        normal = [part / distance for part in away]
        place = [part + n * reach for part, n in zip(mallet, normal)]
        closing = sum((v - s) * n for v, s, n in zip(self.velocity, speed, normal))
        if closing < 0:
            self.velocity = [v - 1.93 * closing * n for v, n in zip(self.velocity, normal)]
        cap = PUCK_SPEED / 2 / max(PUCK_SPEED / 2, *(abs(v) for v in self.velocity))
        self.velocity = tuple(v * cap for v in self.velocity)
        width = HALF_WIDTH - PUCK_RADIUS
        far = HALF_LENGTH - PUCK_RADIUS
        self.puck = (min(max(place[0], -far), far), min(max(place[1], -width), width))

    def goal(self, scorer, x, y):
        self.score[scorer] += 1
        self.set(GOAL_PAUSE, scorer, 90)
        self.puck = (x, y)
        self.note(GOAL, scorer)
        if self.score[scorer] == 7:
            self.set(MATCH_OVER, scorer, 0)
            self.note(MATCH_ENDED, scorer)
