/// A game's state and rules as one plain value. Rollback, prediction, replays and lag compensation
/// are all built on this protocol.
///
/// Copying the value saves the state. The same state and the same inputs must produce the same bits
/// on every machine, so a step may use integers, or `Double` with + - * / and square roots in a
/// fixed order. It must not read a clock, use system randomness (keep a generator in the state
/// instead) or iterate over a set or dictionary.
public protocol Simulation: Sendable {
  /// One player's input for one tick.
  associatedtype Input: SimulationInput
  /// An event that a step can emit, such as a goal or a shot. Use `Never` if there are none.
  associatedtype Event: Hashable & Sendable = Never

  /// The supported player counts, by default 1 to 64. A file or message with any other count is
  /// rejected.
  static var playerCounts: ClosedRange<Int> { get }

  /// Simulates one tick. `inputs` holds one input per player, indexed by player number. Append the
  /// events of the step to `events`.
  mutating func step(_ inputs: Span<Input>, events: inout [Event])

  /// A hash of the whole state; see `StateHash`.
  var hash: UInt64 { get }

  /// Makes this state equal to `other`. The default implementation assigns `other`. A state with
  /// arrays should copy their elements into its own storage, so that saving a state allocates
  /// nothing.
  mutating func copy(_ other: Self)

  /// Names every part of the state, so that a desync report can say which part differs. The default
  /// implementation describes only the hash.
  func describe(into description: inout SimulationDescription)
}

extension Simulation {
  /// The default range of player counts: 1 to 64.
  @inlinable public static var playerCounts: ClosedRange<Int> { 1...SimulationLimits.players }

  /// Assigns `other` to this state.
  @inlinable public mutating func copy(_ other: Self) { self = other }

  /// Describes the state as one entity, "state", with one field, "hash".
  public func describe(into description: inout SimulationDescription) {
    description.entity("state")
    description.field("hash", Int64(bitPattern: hash))
  }
}
