import CaromCore

/// Events of other peers that this side has received and that its present leader may not have:
/// those of a log that was given up when groups merged, or that its leader had not committed.
struct VouchedEvents: Sendable {
  /// The maximum number of events. Beyond it, the oldest ones are dropped.
  static let limit = 8192

  private(set) var events: [SubmittedEvent] = []
  private var keys: Set<Key> = []

  private struct Key: Hashable, Sendable {
    let source: EventSource
    let sequence: UInt64
  }

  var isEmpty: Bool { events.isEmpty }

  /// Adds an event: in order, but not after a later event of the same submitter.
  mutating func add(_ event: SubmittedEvent) {
    guard keys.insert(Key(source: event.source, sequence: event.sequence)).inserted else { return }
    let later = events.firstIndex {
      $0.source == event.source && $0.sequence > event.sequence
    }
    events.insert(event, at: later ?? events.count)
    guard events.count > Self.limit else { return }
    let dropped = events.removeFirst()
    keys.remove(Key(source: dropped.source, sequence: dropped.sequence))
  }

  /// Removes the events that a log contains with this last event of each submitter.
  mutating func remove(containedIn table: SequenceTable) {
    guard !events.isEmpty else { return }
    events.removeAll { event in
      guard event.sequence <= table.last(of: event.source) else { return false }
      keys.remove(Key(source: event.source, sequence: event.sequence))
      return true
    }
  }

  /// Removes the events of one submitter up to a number.
  mutating func remove(_ source: EventSource, upTo sequence: UInt64) {
    guard events.contains(where: { $0.source == source && $0.sequence <= sequence }) else { return }
    events.removeAll { event in
      guard event.source == source, event.sequence <= sequence else { return false }
      keys.remove(Key(source: event.source, sequence: event.sequence))
      return true
    }
  }
}
