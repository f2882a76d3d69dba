import Carom

/// A simulation that a server runs for each match.
protocol FramesWorld: Sendable {
  /// The message that the server sends each tick; a newer state replaces an older one.
  associatedtype State: PacketCodable
  /// The message that the client sends each tick.
  associatedtype Input: PacketCodable

  /// Creates the world with number `index` of a server, in its initial state.
  init(index: Int, entities: Int)

  mutating func receive(_ input: Input)

  /// Advances the world by one tick and returns the state to send to the client.
  mutating func step(at now: Instant) -> State

  /// Returns the client's input for its own tick `tick`, after it received `state`.
  static func input(_ tick: UInt64, seeing state: State?, at now: Instant) -> Input

  /// Returns the tick of a state (the first is 1) and the server's clock when the state was made.
  static func stamp(of state: State) -> (tick: UInt64, clock: Instant)
}
