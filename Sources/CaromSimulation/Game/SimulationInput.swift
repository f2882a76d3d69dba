import CaromCore

/// What one player does in one tick, as a few whole numbers: so that any game's inputs are packed
/// alike in packets and replays, each number as its difference from what the last ones foretell.
public protocol SimulationInput: Hashable, Sendable {
  /// How many numbers make an input: 1 to 16.
  static var fieldCount: Int { get }

  /// What a player does who does nothing: what is assumed before the first input, and of a player
  /// who left.
  init()

  /// The input of these numbers, which a peer sent: what has no meaning is a `DecodeError`.
  init(fields: Span<Int32>) throws(DecodeError)

  /// The number at `index`. Those that change together smoothly, like a place, are coded best.
  func field(_ index: Int) -> Int32

  /// What is assumed to follow this input until the next one is known: the same, without what
  /// happens once, like a shot.
  var held: Self { get }

  /// This input and the `later` one in a single tick, when the input delay shrinks or the game
  /// waits: the later one, with what happens once kept of both.
  func merged(with later: Self) -> Self
}

extension SimulationInput {
  /// The same input.
  @inlinable public var held: Self { self }
  /// The later input.
  @inlinable public func merged(with later: Self) -> Self { later }
}
