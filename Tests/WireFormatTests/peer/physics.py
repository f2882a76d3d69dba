"""Motion and contacts of discs on a table, in IEEE doubles: + - * / and square root alone, each
in a fixed order, so that the bits are the same as everybody's."""

import math

EPSILON = 1e-12  # Metres, and metres a second: nearer and slower discs rest at each other.


def least(a, b):
    return b if b < a else a


def greatest(a, b):
    """The later one of equals: it matters for the sign of 0."""
    return b if b >= a else a


class Vector:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    def cross(self, other):
        return self.x * other.y - self.y * other.x

    @property
    def square(self):
        return self.x * self.x + self.y * self.y

    @property
    def length(self):
        return math.sqrt(self.square)

    @property
    def perpendicular(self):
        """A quarter turned to the left."""
        return Vector(-self.y, self.x)

    def limited(self, limit):
        square = self.square
        return self * (limit / math.sqrt(square)) if square > limit * limit else self


class Disc:
    __slots__ = ("position", "velocity", "spin", "radius")

    def __init__(self, position, velocity, radius, spin=0.0):
        self.position, self.velocity, self.radius, self.spin = position, velocity, radius, spin


# A clock in which a disc that drag slows moves straight: s = (1 - e^-kt) / k.


def exponential_minus_one(x):
    """e^x - 1 by Taylor to the 15th power."""
    assert abs(x) < 0.3
    total, factorial = 1.0 / 1_307_674_368_000, 1_307_674_368_000.0
    for degree in range(15, 2, -1):
        factorial /= degree
        total = total * x + 1 / factorial
    return x + x * x * total


def logarithm_of_one_plus(x):
    """ln(1 + x) = 2 artanh(x / (2 + x))."""
    assert -0.25 < x < 0.4
    ratio = x / (2 + x)
    square = ratio * ratio
    total = 1.0 / 23
    for odd in range(21, 2, -2):
        total = total * square + 1 / odd
    return x - ratio * (x - 2 * square * total)


class Drag:
    def __init__(self, drag):
        self.drag = drag

    def clock(self, time):
        return -exponential_minus_one(-self.drag * time) / self.drag

    def time(self, clock):
        return -logarithm_of_one_plus(-self.drag * clock) / self.drag

    def decay(self, clock):
        """The velocity at a clock is the velocity in the clock times this."""
        return 1 - self.drag * clock


# When discs meet.


def circles(offset, velocity, distance):
    """When a centre at `offset` from another comes within `distance`, closing; or None."""
    closing = offset.dot(velocity)
    if not closing < 0:
        return None
    gap = offset.square - distance * distance
    if not gap > 0:
        return 0.0
    cross = offset.cross(velocity)
    discriminant = velocity.square * distance * distance - cross * cross
    if not discriminant >= 0:
        return None
    return gap / (math.sqrt(discriminant) - closing)


def rests(gap, closing, distance):
    """Whether discs touch and do not press."""
    return closing > -EPSILON * distance and gap < 2 * EPSILON * distance


def first_contact(distance, acceleration, horizon, relative):
    """When the gap of discs that do not move straight closes; `relative` gives offset and velocity
    at a time. Steps to the earliest moment at which it could, until it does."""
    time = 0.0
    for _ in range(200):
        offset, velocity = relative(time)
        length = offset.length
        if length == 0:
            return None  # no direction: nothing compares with what is not a number
        gap, speed = length - distance, offset.dot(velocity) / length
        if gap <= 1e-14 and speed <= -EPSILON:
            return time
        step = safe_step(greatest(gap, 0.0), speed, acceleration)
        if gap <= EPSILON and speed > -EPSILON:
            step = greatest(step, 1.0 / 16 * horizon)
        if not time + step <= horizon:
            return None
        if time + step == time:
            return time
        time += step
    return None


def safe_step(gap, speed, acceleration):
    """The positive root of g + ct - At^2/2."""
    root = math.sqrt(speed * speed + 2 * acceleration * gap)
    if speed < 0:
        return 2 * gap / (root - speed)
    return math.inf if acceleration == 0 else (speed + root) / acceleration


# What contacts change.


def pushed(position, velocity, mallet, restitution):
    """The puck's velocity after a mallet, which nothing deflects, hit it."""
    offset = position - mallet.position
    closing = (velocity - mallet.velocity).dot(offset)
    if not closing < 0:
        return velocity
    return velocity - offset * ((1 + restitution) * closing / offset.square)


def bounced(velocity, spin, radius, normal, restitution, friction):
    """Velocity and spin after a rail or post: Coulomb's friction, a solid disc."""
    closing = velocity.dot(normal)
    if not closing < 0:
        return velocity, spin
    tangent = normal.perpendicular
    slide = velocity.dot(tangent) - spin * radius
    limit = friction * (1 + restitution) * -closing
    change = -slide / 3
    if abs(change) > limit:
        change = -limit if change < 0 else limit
    after = velocity - normal * ((1 + restitution) * closing)
    return after + tangent * change, spin - 2 * change / radius


# What stands around.

RAIL_Y, RAIL_X, POST_LOW, POST_HIGH, GOAL = range(5)


class Table:
    def __init__(self, half_length, half_width, mouth):
        self.half_length, self.half_width, self.mouth = half_length, half_width, mouth

    def is_clear(self, start, end, radius):
        x, y = self.half_length - radius, self.half_width - radius
        return abs(end.x) <= x and abs(end.y) <= y and abs(start.x) <= x and abs(start.y) <= y

    def first_barrier(self, position, velocity, radius, horizon):
        """When a disc on a straight way first meets something, and what; or None."""
        if self.is_clear(position, position + velocity * horizon, radius):
            return None
        best = None
        for time, barrier in self.barriers(position, velocity, radius):
            if time < (horizon if best is None else best[0]) or best is None and time <= horizon:
                best = (time, barrier)
        return best

    def barriers(self, position, velocity, radius):
        """Everything on the way, in the order that breaks ties."""
        if velocity.y != 0:
            yield reach(position.y, velocity.y, self.half_width - radius), RAIL_Y
        if velocity.x != 0:
            time = reach(position.x, velocity.x, self.half_length - radius)
            if abs(position.y + velocity.y * time) >= self.mouth:
                yield time, RAIL_X
        for x in (-self.half_length, self.half_length):
            near = x * position.x > self.half_length * (self.half_length - radius)
            if not (near or x * velocity.x > 0):
                continue
            for y, post in ((-self.mouth, POST_LOW), (self.mouth, POST_HIGH)):
                time = circles(position - Vector(x, y), velocity, radius)
                if time is not None:
                    yield time, post
        if velocity.x != 0:
            time = reach(position.x, velocity.x, self.half_length)
            if abs(position.y + velocity.y * time) < self.mouth:
                yield time, GOAL

    def normal(self, barrier, position, velocity):
        if barrier == RAIL_Y:
            return Vector(0.0, -1.0 if velocity.y > 0 else 1.0)
        if barrier in (RAIL_X, GOAL):
            return Vector(-1.0 if velocity.x > 0 else 1.0, 0.0)
        x = -self.half_length if position.x < 0 else self.half_length
        offset = position - Vector(x, -self.mouth if barrier == POST_LOW else self.mouth)
        return offset * (1 / offset.length)


def reach(position, velocity, limit):
    """When a coordinate gets to the limit on the side that it moves to."""
    way = (limit - position) / velocity if velocity > 0 else (limit + position) / -velocity
    return greatest(0.0, way)
