import CaromCore

/// What the way from one host to another does to what passes, one direction.
///
/// A datagram goes through it in this order: a packet longer than `mtu` vanishes; the queue in
/// front of `rate` holds it up, or drops it; it may come twice; each copy may be lost, corrupted
/// or late; what arrives in a `blackout` vanishes. What is lost has used the rate. Streams wait
/// where datagrams are lost.
public struct LinkConditions: Hashable, Sendable {
  // MARK: When

  /// One-way delay, drawn for each datagram and each piece of a stream: an uneven range reorders
  /// datagrams, and never bytes of a stream.
  public var delay: ClosedRange<Duration>
  /// What comes on top of the delay; it keeps the order.
  public var jitter = Jitter.none
  /// Datagrams that come later than those behind them.
  public var reordering: Reordering?

  // MARK: Whether

  /// The chance, 0 to 1, that a datagram is lost; one that travels in fragments is lost with any
  /// of them. A stream loses nothing: a lost piece comes later by `retransmission`, and all behind
  /// it waits.
  public var loss: Double
  /// Loss in bursts, besides `loss`.
  public var bursts: GilbertElliottLoss?
  /// The chance, 0 to 1, that a datagram comes twice.
  public var duplication: Double
  /// A second copy starts up to that much later, evenly drawn.
  public var duplicationDelay = Duration.zero
  /// The chance, 0 to 1, that one to four bytes of a datagram change: what a checksum missed.
  /// Streams are never corrupted.
  public var corruption = 0.0

  // MARK: How much

  /// Bytes a second, with the headers of IP, UDP and TCP; `nil` has no limit. Where it changes,
  /// what waits leaves as fast as it was going to.
  public var rate: Int?
  /// What may wait in front of `rate`.
  public var queue = QueueLimit.time(.milliseconds(200))
  /// The longest packet; `nil` carries each in fragments of 1,500 bytes.
  public var mtu: PathMTU?

  // MARK: Streams

  /// How much later a piece of a stream comes when it was lost once; it doubles with each further
  /// loss, as the timer of TCP does (RFC 6298 §5.5).
  public var retransmission: Duration
  /// How long the pieces are that a stream is cut into, bytes, drawn for each.
  public var pieceLength: ClosedRange<Int>
  /// The chance, 0 to 1, that a piece comes together with the one written after it.
  public var joining: Double

  // MARK: Interruptions

  /// When nothing arrives.
  public var blackout: Blackout?
  /// How the sender's address changes for the receiver.
  public var rebinding: Rebinding?
  /// Nothing passes: datagrams vanish, streams wait.
  public var isCut: Bool
  /// No datagram passes, streams do: a firewall that lets TCP alone through.
  public var blocksDatagrams = false

  /// Conditions of one's own; the defaults are a good local network. What has no argument here is
  /// set afterwards; a `VirtualNetwork` checks it all when it is given the conditions.
  public init(
    delay: ClosedRange<Duration> = .microseconds(100) ... .microseconds(500), loss: Double = 0,
    duplication: Double = 0, retransmission: Duration = .milliseconds(200),
    pieceLength: ClosedRange<Int> = 1...1_460, joining: Double = 0.25, isCut: Bool = false
  ) {
    self.delay = delay
    self.loss = loss
    self.duplication = duplication
    self.retransmission = retransmission
    self.pieceLength = pieceLength
    self.joining = joining
    self.isCut = isCut
    check()
  }

  /// The delay of every datagram, its jitter, and the rate in bytes a second.
  public init(
    oneWay delay: Duration, jitter: Jitter = .none, rate: Int? = nil, loss: Double = 0
  ) {
    self.init(delay: delay...delay, loss: loss)
    self.jitter = jitter
    self.rate = rate
    check()
  }

  /// The same with a change: `.good.with { $0.corruption = 0.01 }`.
  public func with(_ change: (inout LinkConditions) -> Void) -> LinkConditions {
    var copy = self
    change(&copy)
    copy.check()
    return copy
  }

  /// Meets a precondition where a value has no meaning.
  func check() {
    precondition(delay.lowerBound >= .zero, "a delay is not negative")
    jitter.check(delay: delay.lowerBound)
    for chance in [loss, duplication, corruption, joining] {
      precondition((0...1).contains(chance), "a chance is 0 to 1")
    }
    precondition(duplicationDelay >= .zero, "a copy is not early")
    precondition(retransmission >= .zero, "a retransmission is not early")
    precondition(pieceLength.lowerBound > 0, "a piece has a byte at least")
    precondition((rate ?? 1) > 0 && (rate ?? 1) <= Self.maximumRate, "a rate is 1 B/s to 4 GB/s")
    queue.check()
    blackout?.check()
  }

  /// Bytes a second that the arithmetic of queues is exact for.
  static let maximumRate = 4_000_000_000
}
