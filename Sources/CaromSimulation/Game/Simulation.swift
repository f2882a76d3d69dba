/// A game's state and rules as a plain value: what rollback, prediction, replays and lag
/// compensation work on, whatever the game.
///
/// Copying the value saves it. The same state and the same inputs must give the same bits on every
/// machine: integers, or `Double` with + - * / and square roots in a fixed order; no clock, no
/// system randomness (a generator belongs to the state), no iteration over sets or dictionaries.
public protocol Simulation: Sendable {
  /// What one player does in one tick.
  associatedtype Input: SimulationInput
  /// What a step can make known: a goal, a shot. `Never` where nothing is.
  associatedtype Event: Hashable & Sendable = Never

  /// How many can play: a file or a message that speaks of others is refused. 1 to 64 by default.
  static var playerCounts: ClosedRange<Int> { get }

  /// Makes one tick. `inputs` has one input for each player, by the player's number; what happened
  /// is appended to `events`.
  mutating func step(_ inputs: Span<Input>, events: inout [Event])

  /// A fingerprint of the whole state: see `StateHash`.
  var hash: UInt64 { get }

  /// Becomes equal to `other`. The default assigns it; a state that holds arrays copies their
  /// elements into its own, so that saving a state allocates nothing.
  mutating func copy(_ other: Self)

  /// Names the parts of the state, so that a desync report can say which one differs. The default
  /// tells the hash alone.
  func describe(into description: inout SimulationDescription)
}

extension Simulation {
  /// 1 to 64.
  @inlinable public static var playerCounts: ClosedRange<Int> { 1...SimulationLimits.players }

  /// Assigns.
  @inlinable public mutating func copy(_ other: Self) { self = other }

  /// One entity, "state", with one field, "hash".
  public func describe(into description: inout SimulationDescription) {
    description.entity("state")
    description.field("hash", Int64(bitPattern: hash))
  }
}
