import CaromCore

/// The times at which discovery looks which other programs are bound to port 5353. Each look reads
/// the list of all sockets of the system, which takes milliseconds on a busy host, so there is no
/// look at every datagram.
struct PortChecks {
  /// What a look is wanted for.
  enum Occasion {
    /// A new query, which asks for unicast answers only if this program alone receives them.
    case request
    /// Multicast from another program of this host, which may have just started.
    case multicast
  }

  /// The time after which the next look is due without an occasion.
  static let interval = Duration.seconds(5)
  /// The shortest time between two looks for new queries.
  static let requestInterval = Duration.milliseconds(100)
  /// The shortest time before a look for multicast of this host. When many programs start on one
  /// host, each of them receives the multicast of all others.
  static let multicastInterval = Duration.seconds(1)

  private var last = Instant.zero
  /// The time at which the next look is due.
  private(set) var next = Instant.zero

  /// Wants a look as soon as enough time has passed since the last one.
  mutating func want(for occasion: Occasion, at now: Instant) {
    let interval = occasion == .request ? Self.requestInterval : Self.multicastInterval
    next = min(next, max(now, last + interval))
  }

  /// A look takes place now.
  mutating func note(at now: Instant) { (last, next) = (now, now + Self.interval) }
}
