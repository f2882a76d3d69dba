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
  /// A handshake with an initiator that uses a key of the host takes a third more operations.
  private static let priceForKnownHost = 4

  private static let bucket = TokenBucket(
    capacity: burst * ordinaryPrice, tokens: rate * ordinaryPrice, per: 1_000_000_000)

  /// The price of a handshake that does not use a key of the host.
  private let price: Int
  private var streams = bucket
  private var datagrams = bucket
  /// What handshakes on streams have cost beyond the price that was taken when their streams were
  /// accepted, and what has not been taken from `streams` yet. It is at most a third of an ordinary
  /// price for each accepted stream.
  private var streamDebt = 0

  /// Creates the budget of a host whose strangers prove a join code if `usesCode` is true.
  init(usesCode: Bool) { price = usesCode ? Self.priceWithCode : Self.ordinaryPrice }

  /// Returns whether a handshake may begin, and reduces the budget if so. `isForKnownHost` is true
  /// if the initiator uses a key of the host that it knew before.
  mutating func take(_ link: Strangers.Link, isForKnownHost: Bool, at now: Instant) -> Bool {
    switch link {
    case .stream:
      guard streams.consume(price, at: now.nanoseconds) else { return false }
      payStreamDebt(leaving: 0, at: now)
      return true
    case .datagrams:
      return datagrams.consume(isForKnownHost ? Self.priceForKnownHost : price, at: now.nanoseconds)
    }
  }

  /// Charges what a handshake on an accepted stream costs beyond the price that was taken when the
  /// stream was accepted, because its initiator uses a key of the host.
  ///
  /// What `nextStreamTime` has promised to the next stream stays in the budget. The rest of the
  /// debt makes the streams after that one wait.
  mutating func chargeStreamForKnownHost(at now: Instant) {
    streamDebt += Self.priceForKnownHost - Self.ordinaryPrice
    payStreamDebt(leaving: price, at: now)
  }

  private mutating func payStreamDebt(leaving rest: Int, at now: Instant) {
    let part = min(streamDebt, max(0, streams.available(at: now.nanoseconds) - rest))
    if streams.consume(part, at: now.nanoseconds) { streamDebt -= part }
  }

  /// Returns the time from which a handshake may begin on a stream; `now` if one may begin already.
  mutating func nextStreamTime(at now: Instant) -> Instant {
    let wanted = min(streams.capacity, price + streamDebt)
    return Instant(nanoseconds: streams.nextTime(of: wanted, at: now.nanoseconds))
  }
}
