import CaromCore

/// When the next SACK is due (RFC 9260 §6.2): with the second packet that has data, 100 ms after
/// the first, or at once if the peer would otherwise wait for what is lost.
struct AcknowledgementTimer: Sendable {
  static let threshold = 2
  /// In nanoseconds, since every packet needs it and `Duration` arithmetic is slow.
  static let maximumDelay: Int64 = 100_000_000

  /// The time at which a SACK is due, or nil if there is nothing to acknowledge. A packet that is
  /// sent earlier carries the SACK if it has room.
  private(set) var deadline: Instant?
  private var packets = 0

  mutating func recordPacket(isUrgent: Bool, at now: Instant) {
    packets += 1
    let due =
      isUrgent || packets >= Self.threshold ? now : now.advanced(byNanoseconds: Self.maximumDelay)
    deadline = earliest(deadline, due)
  }

  mutating func recordSent() {
    packets = 0
    deadline = nil
  }
}

/// When the peer is told next that messages were abandoned.
struct ForwardTimer: Sendable {
  /// How long the first chunk waits for a packet with a message.
  static let maximumDelay = Duration.milliseconds(50)
  static let firstInterval = Duration.milliseconds(500)
  static let maximumInterval = Duration.seconds(4)

  /// The time at which the chunk is due, or nil if none is.
  private(set) var deadline: Instant?
  private var interval = ForwardTimer.firstInterval

  /// Whether a packet that is sent now should carry the chunk.
  func isWelcome(at now: Instant) -> Bool {
    deadline.map { $0 <= now + Self.maximumDelay } ?? false
  }

  mutating func schedule(at now: Instant) {
    deadline = earliest(deadline, now + Self.maximumDelay)
    interval = Self.firstInterval
  }

  mutating func recordSent(at now: Instant) {
    deadline = now + interval
    interval = min(interval * 2, Self.maximumInterval)
  }

  mutating func stop() { self = ForwardTimer() }
}

/// When INIT or COOKIE ECHO is repeated: after a second, and then after twice as long each time
/// (RFC 9260 §4 and §16).
struct HandshakeTimer: Sendable {
  /// The maximum number of times that a chunk is sent.
  static let maximumAttempts = 8
  static let firstInterval = Duration.seconds(1)

  private var attempts = 0
  /// Whether the chunk is to be sent now.
  private(set) var isDue = true
  /// The time at which the chunk is repeated.
  private(set) var deadline: Instant?

  mutating func recordSent(at now: Instant) {
    let factor = 1 << attempts
    deadline = now + Self.firstInterval * factor
    attempts += 1
    isDue = false
  }

  /// Lets the chunk be sent once more if its time has come. Returns false after the last time.
  mutating func handleTimeout(at now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return true }
    guard attempts < Self.maximumAttempts else { return false }
    self.deadline = nil
    isDue = true
    return true
  }
}
