import CaromCore

/// The timer for a claim's three probes, 250 ms apart (RFC 6762 §8.1).
package struct Prober: Hashable, Sendable {
  /// An action that the caller must perform now.
  package enum Action: Hashable, Sendable { case probe, claim }

  /// The number of probes for each name.
  static let probes = 3
  /// The range of the random delay before the first probe (RFC 6762 §8.1).
  static let startDelay: ClosedRange<Duration> = .zero ... .milliseconds(250)
  /// The interval between two probes, and from the last probe to the claim.
  static let interval = Duration.milliseconds(250)
  /// The delay after a lost tiebreak (RFC 6762 §8.2).
  static let deferral = Duration.seconds(1)

  private enum State: Hashable {
    case probing(sent: Int, next: Instant)
    /// Another prober won the tiebreak. Probing starts again at `next`.
    case deferring(next: Instant)
    case claimed
  }

  private var state: State

  /// Creates a prober whose first probe is due at `start`.
  package init(start: Instant) { state = .probing(sent: 0, next: start) }

  /// The next time at which `handleTimeout` must be called, or nil once the name is claimed.
  package var nextTimeout: Instant? {
    switch state {
    case .probing(_, let next), .deferring(let next): next
    case .claimed: nil
    }
  }

  /// Whether a probe has been sent. A response that arrives before the first probe cannot be an
  /// answer to a probe.
  package var hasAsked: Bool {
    if case .probing(let sent, _) = state { sent > 0 } else { true }
  }

  /// Whether probes for the name are being sent, so that another host's probe for it requires a
  /// tiebreak. False before the first probe, while this host waits after a lost tiebreak, and once
  /// the name is claimed.
  var isProbing: Bool {
    if case .probing(let sent, _) = state { sent > 0 } else { false }
  }

  /// Returns the action that is due at this time, or nil if none is.
  package mutating func handleTimeout(at now: Instant) -> Action? {
    let sent: Int
    switch state {
    case .probing(let count, let next) where now >= next: sent = count
    case .deferring(let next) where now >= next: sent = 0
    case .probing, .deferring, .claimed: return nil
    }
    if sent == Self.probes {
      state = .claimed
      return .claim
    }
    state = .probing(sent: sent + 1, next: now.advanced(by: Self.interval))
    return .probe
  }

  /// Starts probing again at `start`, after another prober won the tiebreak.
  mutating func yield(until start: Instant) {
    guard case .probing = state else { return }
    state = .deferring(next: start)
  }

  /// Compares the proposals of two simultaneous probes. Both sets are sorted by class, type and raw
  /// data and then compared record by record: the lexicographically later set wins, and a set wins
  /// over its prefix (RFC 6762 §8.2.1).
  package static func tiebreak(_ ours: [Record], _ theirs: [Record]) -> Tiebreak {
    let mine = ours.map(sortKey).sorted { $0.lexicographicallyPrecedes($1) }
    let other = theirs.map(sortKey).sorted { $0.lexicographicallyPrecedes($1) }
    for (a, b) in zip(mine, other) where a != b {
      return a.lexicographicallyPrecedes(b) ? .lost : .won
    }
    if mine.count == other.count { return .same }
    return mine.count < other.count ? .lost : .won
  }

  /// The result of a tiebreak, from this host's point of view.
  package enum Tiebreak: Hashable, Sendable { case won, lost, same }

  private static func sortKey(_ record: Record) -> [UInt8] {
    var writer = PacketWriter()
    writer.writeBigEndian(record.recordClass)
    writer.writeBigEndian(record.type.rawValue)
    writer.write(record.data.uncompressed)
    return writer.bytes
  }
}
