import CaromCore

/// The handshakes that a host can begin for strangers. A handshake consists mostly of public-key
/// operations, so their rate is limited: handshakes for strangers take at most about a quarter of
/// a core, however many strangers there are. Streams and datagrams have half of it each, so that a
/// flood on one kind of link leaves the other one usable.
struct HandshakeBudget {
  /// The number of handshakes that may begin in a second on each kind of link. One takes about
  /// 150 µs of public-key operations.
  static let rate = 800
  /// The number of handshakes that may begin at once after a quiet quarter of a second.
  static let burst = 200

  // Prices are in thirds of the price of an ordinary handshake.
  private static let ordinaryPrice = 3
  /// The exchange of a join code takes as many operations again.
  private static let priceWithCode = 6
  /// A handshake with an initiator that uses a key of the host takes a third more operations. On a
  /// stream it has the ordinary price, because a stream is accepted before its first message.
  private static let priceForKnownHost = 4

  private static let bucket = TokenBucket(
    capacity: burst * ordinaryPrice, tokens: rate * ordinaryPrice, per: 1_000_000_000)

  /// The price of a handshake that does not use a key of the host.
  private let price: Int
  private var streams = bucket
  private var datagrams = bucket

  /// Creates the budget of a host whose strangers prove a join code if `usesCode` is true.
  init(usesCode: Bool) { price = usesCode ? Self.priceWithCode : Self.ordinaryPrice }

  /// Returns whether a handshake may begin, and reduces the budget if so. `isForKnownHost` is true
  /// if the initiator uses a key of the host that it knew before.
  mutating func take(_ link: Strangers.Link, isForKnownHost: Bool, at now: Instant) -> Bool {
    switch link {
    case .stream: streams.consume(price, at: now.nanoseconds)
    case .datagrams:
      datagrams.consume(isForKnownHost ? Self.priceForKnownHost : price, at: now.nanoseconds)
    }
  }

  /// Returns the time from which a handshake may begin on a stream; `now` if one may begin already.
  mutating func nextStreamTime(at now: Instant) -> Instant {
    Instant(nanoseconds: streams.nextTime(of: price, at: now.nanoseconds))
  }
}
