/// The number of a simulation step, counted from 0. A simulation has no other measure of time.
public struct Tick: Hashable, Sendable {
  /// The number of steps before this tick.
  public var rawValue: UInt64

  /// Creates the tick with this number.
  @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Creates the tick with this number, which must not be negative.
  @_disfavoredOverload  // Otherwise, `Tick(.max)` would be ambiguous.
  @inlinable public init(_ number: Int) {
    precondition(number >= 0, "the number of a tick is 0 or more")
    rawValue = UInt64(number)
  }

  /// The tick of the first step.
  public static let zero = Tick(0)

  /// The tick after this one. After the last tick, the number wraps around to 0; at 60 Hz that
  /// takes nine billion years, unless a peer sends a false tick.
  @inlinable public var next: Tick { Tick(rawValue &+ 1) }

  /// Returns the tick `count` steps later, or earlier if `count` is negative.
  @inlinable public func advanced(by count: Int64) -> Tick {
    Tick(rawValue &+ UInt64(bitPattern: count))
  }

  /// Returns the number of steps from this tick to `other`, negative if `other` is earlier.
  @inlinable public func distance(to other: Tick) -> Int64 {
    Int64(bitPattern: other.rawValue &- rawValue)
  }
}

extension Tick: Comparable {
  /// Returns whether the tick `a` is before the tick `b`.
  @inlinable public static func < (a: Tick, b: Tick) -> Bool { a.rawValue < b.rawValue }
}

extension Tick: CustomStringConvertible {
  /// The tick's number in decimal.
  public var description: String { String(rawValue) }
}
