import CaromCore

/// The times at which discovery checks which other programs are bound to port 5353. Each check
/// reads the system's list of all UDP sockets, which takes milliseconds on a busy host, so that not
/// every datagram can cause one.
struct PortChecks {
  /// The reason for a check.
  enum Occasion {
    /// A new query, which asks for unicast answers only if this program alone receives them.
    case request
    /// Multicast from another program of this host, which may have just started.
    case multicast
  }

  /// The time after which the port is checked again without an occasion. The system does not report
  /// that a program has bound or released it.
  static let interval = Duration.seconds(5)
  /// The minimum time between two checks because of new queries.
  static let requestInterval = Duration.milliseconds(100)
  /// The minimum time after a check before multicast of this host causes another one. When many
  /// programs start on one host, each of them receives the multicast of all others.
  static let multicastInterval = Duration.seconds(1)

  private var last = Instant.zero
  /// The time at which the next check is due.
  private(set) var next = Instant.zero

  /// Schedules a check for the earliest time that its reason permits.
  mutating func schedule(for occasion: Occasion, at now: Instant) {
    let interval = occasion == .request ? Self.requestInterval : Self.multicastInterval
    next = min(next, max(now, last + interval))
  }

  /// Notes that the port is checked now.
  mutating func note(at now: Instant) { (last, next) = (now, now + Self.interval) }
}
