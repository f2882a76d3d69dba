/// An extra delay for a random fraction of the datagrams, so that later datagrams overtake them.
public struct Reordering: Hashable, Sendable {
  /// The probability, 0 to 1, that a datagram is delayed.
  public let probability: Double
  /// The extra delay of a datagram that is reordered.
  public let delay: Duration

  /// Creates a reordering that delays each datagram by `delay` with the given probability.
  public init(_ probability: Double, by delay: Duration) {
    precondition((0...1).contains(probability), "a probability must be 0 to 1")
    precondition(delay >= .zero, "an extra delay must not be negative")
    self.probability = probability
    self.delay = delay
  }
}
