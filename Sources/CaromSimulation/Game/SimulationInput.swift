import CaromCore

/// One player's input for one tick, as a fixed number of integers. Packets and replays can
/// therefore encode every game's inputs in the same way: each integer as its difference from a
/// prediction.
public protocol SimulationInput: Hashable, Sendable {
  /// The number of integers in an input, 1 to 16.
  static var fieldCount: Int { get }

  /// Creates the neutral input. It applies before a player's first input and after the player has
  /// left.
  init()

  /// Creates an input from integers that a peer sent. Throws a `DecodeError` if they are not a
  /// valid input.
  init(fields: Span<Int32>) throws(DecodeError)

  /// Returns the integer at `index`. Values that change smoothly, such as a position, take the
  /// fewest bits.
  func field(_ index: Int) -> Int32

  /// The input to assume for the following ticks until the next input arrives: this one without its
  /// one-time actions, such as a shot.
  var held: Self { get }

  /// Returns one tick's input that combines this input with the `later` one. Inputs are combined
  /// when the input delay shrinks or the game stalls. The result is `later` plus the one-time
  /// actions of both inputs.
  func merged(with later: Self) -> Self
}

extension SimulationInput {
  /// The input itself, unchanged.
  @inlinable public var held: Self { self }
  /// Returns `later` unchanged.
  @inlinable public func merged(with later: Self) -> Self { later }
}
