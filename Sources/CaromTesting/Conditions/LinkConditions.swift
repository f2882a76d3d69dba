import CaromCore

/// The conditions of one direction of a link between two hosts.
///
/// The conditions apply to a datagram in this order: a packet longer than `mtu` is dropped; with a
/// `rate`, the bottleneck's queue delays or drops the datagram; the datagram may be duplicated;
/// each copy may be lost, corrupted or delayed; copies that arrive during an `outage` are lost.
/// Datagrams that are lost after the bottleneck still use bandwidth. For streams, loss and outages
/// cause delays instead.
public struct LinkConditions: Hashable, Sendable {
  // MARK: Delay

  /// The one-way delay, drawn for each datagram and each chunk of a stream. Different delays may
  /// reorder datagrams, but never the bytes of a stream.
  public var delay: ClosedRange<Duration>
  /// The random variation of the delay, which preserves the order of datagrams.
  public var jitter = Jitter.none
  /// Extra delay for a random fraction of the datagrams, so that later datagrams may overtake them.
  /// Nil for none.
  public var reordering: Reordering?

  // MARK: Loss and errors

  /// The probability, 0 to 1, that a datagram is lost. For a fragmented datagram, the probability
  /// applies to each fragment. A lost chunk of a stream is delayed by `retransmission`, and so are
  /// all bytes behind it.
  public var loss: Double
  /// Loss in bursts, in addition to `loss`, or nil for none.
  public var burstLoss: GilbertElliottLoss?
  /// The probability, 0 to 1, that a datagram is duplicated.
  public var duplication: Double
  /// The maximum extra delay of the copy of a duplicated datagram. The actual delay is uniformly
  /// distributed from 0 to this time.
  public var duplicationDelay = Duration.zero
  /// The probability, 0 to 1, that one to four bytes of a datagram are changed, as by an error that
  /// the checksum did not detect. Streams are never corrupted.
  public var corruption = 0.0

  // MARK: Bandwidth

  /// The bandwidth in bytes per second, including IP, UDP and TCP headers, or nil for no limit. A
  /// change does not affect data that is already queued.
  public var rate: Int?
  /// The limit of the queue in front of the bottleneck.
  public var queue = QueueLimit.time(.milliseconds(200))
  /// The maximum length of a packet that the path carries; longer packets are dropped. If nil, the
  /// path carries long datagrams in IP fragments of at most 1,500 bytes.
  public var mtu: PathMTU?

  // MARK: Streams

  /// The delay of a stream's chunk after one loss. The delay doubles with each further loss, as
  /// TCP's retransmission timeout does (RFC 6298 §5.5).
  public var retransmission: Duration
  /// The range of the lengths, in bytes, of the chunks in which a stream's bytes are delivered. The
  /// length is drawn for each chunk.
  public var chunkLength: ClosedRange<Int>
  /// The probability, 0 to 1, that a chunk is delivered together with the chunk before it.
  public var coalescing: Double

  // MARK: Interruptions

  /// The times at which the link is down, or nil if it never is.
  public var outage: Outage?
  /// The changes to the sender's address or port, as seen by the receiver, that occur when a NAT
  /// forgets its mapping, or nil for none.
  public var rebinding: Rebinding?
  /// Whether the link is cut: all datagrams are lost, and streams wait.
  public var isCut: Bool
  /// Whether all datagrams are dropped and only streams pass, as through a firewall that permits
  /// only TCP.
  public var blocksDatagrams = false

  /// Creates link conditions. The defaults describe a good local network. Properties that have no
  /// parameter here can be set afterwards. A `VirtualNetwork` validates the conditions that it is
  /// given.
  public init(
    delay: ClosedRange<Duration> = .microseconds(100) ... .microseconds(500), loss: Double = 0,
    duplication: Double = 0, retransmission: Duration = .milliseconds(200),
    chunkLength: ClosedRange<Int> = 1...1_460, coalescing: Double = 0.25, isCut: Bool = false
  ) {
    self.delay = delay
    self.loss = loss
    self.duplication = duplication
    self.retransmission = retransmission
    self.chunkLength = chunkLength
    self.coalescing = coalescing
    self.isCut = isCut
    check()
  }

  /// Creates conditions with a constant one-way delay, jitter, a rate in bytes per second, and a
  /// loss probability.
  public init(
    oneWay delay: Duration, jitter: Jitter = .none, rate: Int? = nil, loss: Double = 0
  ) {
    self.init(delay: delay...delay, loss: loss)
    self.jitter = jitter
    self.rate = rate
    check()
  }

  /// Returns a modified copy, such as `.good.with { $0.corruption = 0.01 }`.
  public func with(_ change: (inout LinkConditions) -> Void) -> LinkConditions {
    var copy = self
    change(&copy)
    copy.check()
    return copy
  }

  /// Validates all values. An invalid value is a programming error and stops the program.
  func check() {
    precondition(delay.lowerBound >= .zero, "a delay must not be negative")
    jitter.check(delay: delay.lowerBound)
    for probability in [loss, duplication, corruption, coalescing] {
      precondition((0...1).contains(probability), "a probability must be 0 to 1")
    }
    precondition(duplicationDelay >= .zero, "duplicationDelay must not be negative")
    precondition(retransmission >= .zero, "retransmission must not be negative")
    precondition(chunkLength.lowerBound > 0, "a chunk must have at least one byte")
    precondition((rate ?? 1) > 0 && (rate ?? 1) <= Self.maximumRate, "a rate is 1 B/s to 4 GB/s")
    queue.check()
    outage?.check()
  }

  /// The maximum rate, in bytes per second, for which the arithmetic of `LinkQueue` is exact.
  static let maximumRate = 4_000_000_000
}

/// Link conditions in shared storage, so that many links can use the same conditions without
/// copies.
final class SharedConditions: Sendable {
  let value: LinkConditions

  init(_ value: LinkConditions) { self.value = value }
}
