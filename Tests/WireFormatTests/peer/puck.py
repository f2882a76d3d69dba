"""One step of a puck and two mallets, which handles each contact at its exact time."""

from physics import (
    GOAL, Vector, bounced, circles, first_contact, least, pushed, rests)

MALLETS = "mallets"
CONTACTS = 64  # After more contacts in one step the puck is pinned.


class Surface:
    """The hockey table, its drag, restitution and friction."""

    def __init__(self, table, drag, step, rail, mallet, friction, cap):
        self.table, self.drag, self.step, self.cap = table, drag, step, cap
        self.rail, self.mallet, self.friction = rail, mallet, friction
        self.horizon = drag.clock(step)

    def advance(self, puck, first, second):
        """Moves puck and mallets. Returns whether there was a contact, and -1 or 1 for a goal at
        that end, else 0."""
        if self.is_quiet(puck, first) and self.is_quiet(puck, second):
            end = puck.position + puck.velocity * self.horizon
            if self.table.is_clear(puck.position, end, puck.radius):
                puck.position = end
                puck.velocity = puck.velocity * self.drag.decay(self.horizon)
                for mallet in (first, second):
                    mallet.position = mallet.position + mallet.velocity * self.step
                return False, 0
        run = Run(self, puck, first, second)
        run.play()
        return run.touched, run.goal

    def is_quiet(self, puck, mallet):
        """Whether the boxes that puck and mallet sweep are disjoint."""
        offset, reach = puck.position - mallet.position, puck.radius + mallet.radius
        x = (abs(puck.velocity.x) + abs(mallet.velocity.x)) * self.step
        y = (abs(puck.velocity.y) + abs(mallet.velocity.y)) * self.step
        return abs(offset.x) > reach + x or abs(offset.y) > reach + y


class Run:
    """A step that may have contacts. The puck's velocity is that in the clock, in which it is
    constant between contacts; the mallets' velocities are constant in time."""

    def __init__(self, surface, puck, first, second):
        self.surface, self.puck, self.mallets = surface, puck, (first, second)
        self.starts = (first.position, second.position)
        self.clock = self.time = 0.0
        self.touched, self.goal = False, 0

    @property
    def decay(self):
        return self.surface.drag.decay(self.clock)

    def play(self):
        for _ in range(CONTACTS):
            length, barrier, hits = self.next_contact()
            self.move(length)
            self.touched = self.touched or barrier is not None
            if barrier is None:
                return self.finish()
            if barrier == GOAL:
                self.goal = -1 if self.puck.position.x < 0 else 1
                return self.finish()
            if barrier == MALLETS:
                self.hit(hits)
            else:
                self.bounce(barrier)
        return self.pin()

    def next_contact(self):
        puck, surface = self.puck, self.surface
        length, barrier = surface.horizon - self.clock, None
        met = surface.table.first_barrier(puck.position, puck.velocity, puck.radius, length)
        if met is not None:
            length, barrier = met
        times = [self.contact(mallet, length) for mallet in self.mallets]
        earliest = min((time for time in times if time is not None), default=None)
        if earliest is None or not (earliest < length or earliest == length and barrier is None):
            return length, barrier, None
        return earliest, MALLETS, [time == earliest for time in times]

    def contact(self, mallet, length):
        """The clock interval until the mallet meets the puck, or None."""
        puck, drag = self.puck, self.surface.drag
        distance = puck.radius + mallet.radius
        offset = puck.position - mallet.position
        if mallet.velocity.x == 0 and mallet.velocity.y == 0:
            gap = offset.square - distance * distance
            if rests(gap, offset.dot(puck.velocity), distance):
                return None
            time = circles(offset, puck.velocity, distance)
            return time if time is not None and time <= length else None
        ends = 1 - drag.drag * (self.clock + length)
        relative = puck.velocity - mallet.velocity * (1 / self.decay)
        acceleration = mallet.velocity.length * drag.drag / (ends * ends)
        room = distance + 0.5 * acceleration * length * length
        early = circles(offset, relative, room)
        if early is None and offset.square < room * room:
            early = 0.0
        if early is None or not early <= length:
            return None
        return first_contact(
            distance, acceleration, length, lambda after: self.between(mallet, offset, after))

    def between(self, mallet, offset, after):
        """Offset and velocity of the puck relative to the mallet in the clock, `after` from now."""
        drag, velocity, now = self.surface.drag, self.puck.velocity, self.clock + after
        moved = mallet.velocity * (drag.time(now) - self.time)
        return (
            offset + velocity * after - moved,
            velocity - mallet.velocity * (1 / drag.decay(now)))

    def move(self, length):
        self.puck.position = self.puck.position + self.puck.velocity * length
        self.clock += length
        self.time = self.surface.drag.time(self.clock)
        for mallet, start in zip(self.mallets, self.starts):
            mallet.position = start + mallet.velocity * self.time

    def bounce(self, barrier):
        puck, surface, decay = self.puck, self.surface, self.decay
        normal = surface.table.normal(barrier, puck.position, puck.velocity)
        velocity, puck.spin = bounced(
            puck.velocity * decay, puck.spin, puck.radius, normal, surface.rail, surface.friction)
        puck.velocity = velocity * (1 / decay)

    def hit(self, hits):
        """Applies contact with one mallet, or with both at once: their changes add up."""
        velocity, change = self.puck.velocity * self.decay, Vector(0.0, 0.0)
        for mallet, is_hit in zip(self.mallets, hits):
            if is_hit:
                after = pushed(self.puck.position, velocity, mallet, self.surface.mallet)
                change = change + (after - velocity)
        limited = (velocity + change).limited(self.surface.cap)
        self.puck.velocity = limited * (1 / self.decay)

    def finish(self):
        self.puck.velocity = self.puck.velocity * self.decay
        for mallet, start in zip(self.mallets, self.starts):
            mallet.position = start + mallet.velocity * self.surface.step

    def pin(self):
        """Handles too many contacts: the puck stops, and the mallets stop at the puck."""
        self.puck.velocity = Vector(0.0, 0.0)
        rest = self.surface.step - self.time
        for mallet in self.mallets:
            reach = self.puck.radius + mallet.radius
            time = circles(mallet.position - self.puck.position, mallet.velocity, reach)
            way = least(rest, rest if time is None else time)
            mallet.position = mallet.position + mallet.velocity * way
