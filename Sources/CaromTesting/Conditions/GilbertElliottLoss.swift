/// Loss in bursts, by the Gilbert-Elliott model (Gilbert 1960, Elliott 1963): the link is in a good
/// or a bad state, may change its state before each datagram, and loses all datagrams in the bad
/// state.
public struct GilbertElliottLoss: Hashable, Sendable {
  /// The mean loss rate: the fraction of all datagrams that is lost, at least 0 and less than 1.
  public let loss: Double
  /// The mean length of a burst, at least 1 datagram.
  public let length: Double

  /// Creates a model with the given mean loss rate and mean burst length. `length` must be at least
  /// `loss / (1 - loss)`, since a higher loss rate needs longer bursts.
  public init(loss: Double, length: Double) {
    precondition(loss >= 0 && loss < 1, "a mean loss must be at least 0 and less than 1")
    precondition(length >= 1, "a mean burst length must be at least 1")
    precondition(loss <= length * (1 - loss), "this loss rate needs a greater mean burst length")
    self.loss = loss
    self.length = length
  }

  /// The probability that the good state changes to the bad state before the next datagram.
  var startProbability: Double { loss / (length * (1 - loss)) }
  /// The probability that the bad state changes to the good state before the next datagram.
  var endProbability: Double { 1 / length }
}
