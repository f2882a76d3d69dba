/// Loss in bursts (Gilbert 1960, Elliott 1963): a link is good or bad, and loses all while it is
/// bad; each datagram may turn it.
public struct GilbertElliottLoss: Hashable, Sendable {
  /// The share of all datagrams that is lost on average, from 0 up to and without 1.
  public let loss: Double
  /// How many datagrams in a row are lost on average, at least 1.
  public let length: Double

  /// Bursts of `length` datagrams on average that take `loss` of all. A burst length too short for
  /// the loss is refused: `loss / (1 - loss)` is at most `length`.
  public init(loss: Double, length: Double) {
    precondition(loss >= 0 && loss < 1, "a mean loss is 0 or more and less than 1")
    precondition(length >= 1, "a burst has a datagram at least")
    precondition(loss <= length * (1 - loss), "so much loss needs longer bursts")
    self.loss = loss
    self.length = length
  }

  /// The chance that a good link turns bad before a datagram.
  var beginning: Double { loss / (length * (1 - loss)) }
  /// The chance that a bad link turns good before a datagram.
  var ending: Double { 1 / length }
}
