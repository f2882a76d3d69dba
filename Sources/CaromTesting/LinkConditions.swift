/// What the way between two hosts does to what passes: delay, jitter, loss, doubling, a cut.
public struct LinkConditions: Hashable, Sendable {
  /// One-way delay, drawn for each datagram and each piece of a stream: an uneven range reorders
  /// datagrams, and never bytes of a stream.
  public var delay: ClosedRange<Duration>
  /// The chance, 0 to 1, that a datagram is lost. A stream loses nothing: a lost piece comes later
  /// by `retransmission`, and all behind it waits.
  public var loss: Double
  /// The chance, 0 to 1, that a datagram comes twice.
  public var duplication: Double
  /// How much later a piece of a stream comes when it was lost once.
  public var retransmission: Duration
  /// How long the pieces are that a stream is cut into, bytes, drawn for each.
  public var pieceLength: ClosedRange<Int>
  /// The chance, 0 to 1, that a piece comes together with the one written after it.
  public var joining: Double
  /// Nothing passes: datagrams vanish, streams wait.
  public var isCut: Bool

  /// Conditions of one's own; the defaults are a good local network.
  public init(
    delay: ClosedRange<Duration> = .microseconds(100) ... .microseconds(500), loss: Double = 0,
    duplication: Double = 0, retransmission: Duration = .milliseconds(200),
    pieceLength: ClosedRange<Int> = 1...1_460, joining: Double = 0.25, isCut: Bool = false
  ) {
    precondition(delay.lowerBound >= .zero, "a delay is not negative")
    precondition((0...1).contains(loss) && (0...1).contains(duplication), "a chance is 0 to 1")
    precondition(pieceLength.lowerBound > 0, "a piece has a byte at least")
    self.delay = delay
    self.loss = loss
    self.duplication = duplication
    self.retransmission = retransmission
    self.pieceLength = pieceLength
    self.joining = joining
    self.isCut = isCut
  }

  /// A good local network: 0.1 to 0.5 ms, no loss.
  public static let lan = LinkConditions()
  /// Wi-Fi in a busy room: 1 to 30 ms, one datagram in fifty lost.
  public static let wifi = LinkConditions(
    delay: .milliseconds(1) ... .milliseconds(30), loss: 0.02, duplication: 0.001)
  /// The same everywhere and always: 1 ms, nothing lost, streams come as they were written.
  public static let steady = LinkConditions(
    delay: .milliseconds(1) ... .milliseconds(1), pieceLength: 1 << 30...1 << 30,
    joining: 0)
  /// A cable that is pulled out.
  public static let cut = LinkConditions(isCut: true)
}
