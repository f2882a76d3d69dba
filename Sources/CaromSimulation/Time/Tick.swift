/// A step of a simulation, counted from 0: the only time that a simulation knows.
public struct Tick: Hashable, Sendable {
  /// How many steps were made before this point.
  public var rawValue: UInt64

  /// The tick of that number.
  @inlinable public init(_ rawValue: UInt64) { self.rawValue = rawValue }

  /// Before the first step.
  public static let zero = Tick(0)

  /// The tick after this one; the last wraps to 0, which takes nine thousand million years at
  /// 60 Hz unless a peer lies.
  @inlinable public var next: Tick { Tick(rawValue &+ 1) }

  /// The tick `count` steps later, or earlier where `count` is negative.
  @inlinable public func advanced(by count: Int64) -> Tick {
    Tick(rawValue &+ UInt64(bitPattern: count))
  }

  /// How many steps lead from here to `other`; negative where `other` is earlier.
  @inlinable public func distance(to other: Tick) -> Int64 {
    Int64(bitPattern: other.rawValue &- rawValue)
  }
}

extension Tick: Comparable {
  /// Orders by number.
  @inlinable public static func < (a: Tick, b: Tick) -> Bool { a.rawValue < b.rawValue }
}

extension Tick: CustomStringConvertible {
  /// The number.
  public var description: String { String(rawValue) }
}
