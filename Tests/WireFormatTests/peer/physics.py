"""Motion and contacts of discs in IEEE doubles. It uses only + - * / and square root, in a fixed
order, so that every implementation computes the same bits."""

import math

EPSILON = 1e-12  # In m and m/s: closer and slower discs rest against each other.


def least(a, b):
    return b if b < a else a


def greatest(a, b):
    """The greater value; the second one of two equals, which matters for the sign of 0."""
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
        """The vector rotated left by 90 degrees."""
        return Vector(-self.y, self.x)

    def limited(self, limit):
        square = self.square
        return self * (limit / math.sqrt(square)) if square > limit * limit else self


class Disc:
    __slots__ = ("position", "velocity", "spin", "radius")

    def __init__(self, position, velocity, radius, spin=0.0):
        self.position, self.velocity, self.radius, self.spin = position, velocity, radius, spin


# A clock in which a disc moves at constant velocity despite drag: s = (1 - e^-kt) / k.


def exponential_minus_one(x):
    """e^x - 1 by its Taylor series to the 15th power."""
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
        """The factor from the velocity in the clock to the velocity in time."""
        return 1 - self.drag * clock


# The time of a contact.


def circles(offset, velocity, distance):
    """The time at which a centre at `offset` from another closes to `distance`, or None."""
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
    """Whether two discs touch without moving towards each other."""
    return closing > -EPSILON * distance and gap < 2 * EPSILON * distance


def first_contact(distance, acceleration, horizon, relative):
    """The time at which the gap between discs on curved paths closes; `relative` gives offset and
    velocity at a time. Steps repeatedly to the earliest time at which the gap could close."""
    time = 0.0
    for _ in range(200):
        offset, velocity = relative(time)
        length = offset.length
        if length == 0:
            return None  # there is no direction: the divisions below would yield NaN
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
    """The positive root of g + c*t - A*t^2/2."""
    root = math.sqrt(speed * speed + 2 * acceleration * gap)
    if speed < 0:
        return 2 * gap / (root - speed)
    return math.inf if acceleration == 0 else (speed + root) / acceleration


# The effect of a contact.


def pushed(position, velocity, mallet, restitution):
    """The puck's velocity after contact with a mallet, which the contact does not deflect."""
    offset = position - mallet.position
    closing = (velocity - mallet.velocity).dot(offset)
    if not closing < 0:
        return velocity
    return velocity - offset * ((1 + restitution) * closing / offset.square)


def bounced(velocity, spin, radius, normal, restitution, friction):
    """Velocity and spin of a solid disc after a rail or post, with Coulomb friction."""
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


# Barriers.

RAIL_Y, RAIL_X, POST_LOW, POST_HIGH, GOAL = range(5)


class Table:
    def __init__(self, half_length, half_width, mouth):
        self.half_length, self.half_width, self.mouth = half_length, half_width, mouth

    def is_clear(self, start, end, radius):
        x, y = self.half_length - radius, self.half_width - radius
        return abs(end.x) <= x and abs(end.y) <= y and abs(start.x) <= x and abs(start.y) <= y

    def first_barrier(self, position, velocity, radius, horizon):
        """The time of a disc's first contact with a barrier on a straight path, and the barrier; or
        None."""
        if self.is_clear(position, position + velocity * horizon, radius):
            return None
        best = None
        for time, barrier in self.barriers(position, velocity, radius):
            if time < (horizon if best is None else best[0]) or best is None and time <= horizon:
                best = (time, barrier)
        return best

    def barriers(self, position, velocity, radius):
        """All contacts with barriers, in the order that breaks ties."""
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
    """The time at which a coordinate reaches the limit in its direction of motion."""
    way = (limit - position) / velocity if velocity > 0 else (limit + position) / -velocity
    return greatest(0.0, way)
