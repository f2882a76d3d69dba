import Carom

/// What a server simulates for one match, and what it tells of it each tick.
protocol FramesWorld: Sendable {
  /// What the client is sent each tick; a newer one replaces an older one.
  associatedtype State: PacketCodable
  /// What the client sends each tick.
  associatedtype Input: PacketCodable

  /// World number `index` of a server, at its beginning.
  init(index: Int, entities: Int)

  mutating func receive(_ input: Input)

  /// Makes one tick and says what the client is to see of it.
  mutating func step(at now: Instant) -> State

  /// A client's input of its own tick `tick`, having seen `state`.
  static func input(_ tick: UInt64, seeing state: State?, at now: Instant) -> Input

  /// The tick that a state is of, 1 for the first, and the server's clock when it was made.
  static func stamp(of state: State) -> (tick: UInt64, clock: Instant)
}
