import CaromCore

/// What a host remembers about the key of a hello that belongs to none of its connections.
enum KeyHistory {
  /// No connection has had the key.
  case new
  /// A connection with the key has ended.
  case ended
  /// The host may have forgotten a connection with the key that has ended. The hello could be one
  /// that somebody has recorded.
  case forgotten
}

/// Whether the keys of ended connections that a host has forgotten still matter: as long as the
/// cookies that preceded them are valid.
struct KeyMemory: Sendable {
  private var end = Instant.zero

  /// Records that the key of a connection that ended at `time` was forgotten.
  mutating func recordForgotten(endedAt time: Instant) {
    end = max(end, time.advanced(byNanoseconds: Cookie.lifetime))
  }

  /// Returns whether the host remembers the keys of all recorded hellos that it would still accept.
  func isComplete(at now: Instant) -> Bool { now >= end }
}

extension Host {
  /// The maximum number of ended connections whose keys are remembered. Beyond this number, the
  /// oldest key is dropped.
  private static let endedKeyLimit = 64

  /// Returns what this host, which is in no group, remembers about a key.
  func findHistory(of key: ConnectionKey, at now: Instant) -> KeyHistory {
    if hasEnded(key) { return .ended }
    return memory.isComplete(at: now) ? .new : .forgotten
  }

  /// Returns whether a connection with this key is among those that have ended most recently.
  func remembersEnd(of key: ConnectionKey) -> Bool { endedKeys.contains { $0.key == key } }

  /// Remembers the key of an accepted connection whose request was answered and that has ended. At
  /// the limit, drops the oldest key.
  mutating func recordEnd(of entry: Entry, at now: Instant) {
    let key = entry.connection.key
    guard entry.isIncoming, entry.wasAnswered, key != .none, !remembersEnd(of: key)
    else { return }
    endedKeys.append((key, now))
    if endedKeys.count > Self.endedKeyLimit {
      memory.recordForgotten(endedAt: endedKeys.removeFirst().time)
    }
  }
}
