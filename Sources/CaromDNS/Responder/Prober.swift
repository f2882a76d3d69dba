import CaromCore

/// Claims names on one link: asks three times, a quarter of a second apart (RFC 6762 §8.1).
package struct Prober: Hashable, Sendable {
  /// What to do now.
  package enum Action: Hashable, Sendable { case probe, claim }

  /// How often it asks.
  static let probes = 3
  /// Between two probes, and after the last.
  static let interval = Duration.milliseconds(250)
  /// After a lost tiebreak (RFC 6762 §8.2).
  static let deferral = Duration.seconds(1)

  private enum State: Hashable {
    case probing(sent: Int, next: Instant)
    case claimed
  }

  private var state: State

  /// Asks first at `start`.
  package init(start: Instant) { state = .probing(sent: 0, next: start) }

  /// When it wants to be called next; `nil` once the names are claimed.
  package var nextTimeout: Instant? {
    if case .probing(_, let next) = state { next } else { nil }
  }

  /// Whether it has asked: answers that come earlier were not for it.
  package var hasAsked: Bool {
    if case .probing(let sent, _) = state { sent > 0 } else { true }
  }

  /// Time has passed.
  package mutating func handleTimeout(at now: Instant) -> Action? {
    guard case .probing(let sent, let next) = state, now >= next else { return nil }
    if sent == Self.probes {
      state = .claimed
      return .claim
    }
    state = .probing(sent: sent + 1, next: now.advanced(by: Self.interval))
    return .probe
  }

  /// Another prober wants the same names and won: try again at `start`, a second later or more.
  mutating func yield(until start: Instant) {
    guard case .probing = state else { return }
    state = .probing(sent: 0, next: start)
  }

  /// Whether the set `ours` comes first: record by record by class, type and raw data, the
  /// lexicographically later one wins, and the longer set (RFC 6762 §8.2.1).
  package static func tiebreak(_ ours: [Record], _ theirs: [Record]) -> Tiebreak {
    let mine = ours.map(sortKey).sorted { $0.lexicographicallyPrecedes($1) }
    let other = theirs.map(sortKey).sorted { $0.lexicographicallyPrecedes($1) }
    for (a, b) in zip(mine, other) where a != b {
      return a.lexicographicallyPrecedes(b) ? .lost : .won
    }
    if mine.count == other.count { return .same }
    return mine.count < other.count ? .lost : .won
  }

  /// How a tiebreak ends.
  package enum Tiebreak: Hashable, Sendable { case won, lost, same }

  private static func sortKey(_ record: Record) -> [UInt8] {
    var writer = PacketWriter()
    writer.writeBigEndian(record.recordClass)
    writer.writeBigEndian(record.type.rawValue)
    writer.write(record.data.uncompressed)
    return writer.bytes
  }
}
