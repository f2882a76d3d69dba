import CaromCore

@testable import CaromGroup

/// An event in the history of an application.
struct AppliedEvent: Hashable {
  let source: EventSource
  let sequence: UInt64
  let bytes: [UInt8]
}

/// What all sides of a world have done.
final class HistoryRecord {
  /// The number of events that each side has submitted.
  var submitted: [EventSource: UInt64] = [:]
  /// The sides that have had each event that was ever applied.
  var holders: [AppliedEvent: Set<PeerID>] = [:]
  /// The entry of each place in the order.
  var entries: [LedgerPosition: LedgerEntry] = [:]

  /// What is wrong with a history of which these sides are left: an event is missing that was
  /// applied and that one of them has had or has submitted, or an event is there twice.
  func losses(in history: [AppliedEvent], alive: Set<EventSource>) -> [String] {
    let events = Set(history)
    var faults = events.count == history.count ? [] : ["events are applied twice"]
    let left = Set(alive.map(\.peer))
    let lost = holders.count { !events.contains($0.key) && !$0.value.isDisjoint(with: left) }
    if lost > 0 { faults.append("\(lost) events are lost that were applied") }
    for source in alive {
      let missing = submitted[source, default: 0] - UInt64(history.count { $0.source == source })
      if missing > 0 { faults.append("\(missing) events are missing") }
    }
    return faults
  }
}

/// The application of one side, which checks what it is told to apply: each entry once, in order,
/// and the same one as everywhere else.
struct HistoryChecker {
  private let record: HistoryRecord
  private let name: String
  private(set) var history: [AppliedEvent] = []
  private(set) var index: UInt64 = 0
  private var last: [EventSource: UInt64] = [:]
  private(set) var restoreCount = 0
  private(set) var faults: [String] = []

  init(_ id: PeerID, _ record: HistoryRecord) {
    name = String(id.description.prefix(4))
    self.record = record
  }

  /// `holders` are sides that have the entry too.
  mutating func apply(_ entry: LedgerEntry, holders: Set<PeerID>) {
    if entry.index != index + 1 { faults.append("\(name) applies \(entry.index) after \(index)") }
    index = entry.index
    if entry.sequence != last[entry.source, default: 0] + 1 {
      faults.append("\(name) applies event \(entry.sequence) of \(entry.submitter) out of order")
    }
    last[entry.source] = entry.sequence
    let known = record.entries.updateValue(entry, forKey: entry.position)
    if let known, known != entry { faults.append("two entries at \(entry.index)") }
    let event = AppliedEvent(
      source: entry.source, sequence: entry.sequence, bytes: entry.bytes)
    history.append(event)
    record.holders[event, default: []].formUnion(holders)
  }

  mutating func restore(_ snapshot: [UInt8]?, at index: UInt64) {
    restoreCount += 1
    self.index = index
    history = []
    last = [:]
    guard let snapshot else { return }
    var reader = PacketReader(snapshot.span)
    while reader.remaining > 0 {
      guard let event = try? SubmittedEvent(decoding: &reader) else {
        faults.append("\(name) receives a broken snapshot")
        return
      }
      history.append(
        AppliedEvent(source: event.source, sequence: event.sequence, bytes: event.bytes))
      last[event.source] = event.sequence
    }
  }

  var snapshot: [UInt8] {
    var writer = PacketWriter()
    for event in history {
      SubmittedEvent(source: event.source, sequence: event.sequence, bytes: event.bytes)
        .encode(into: &writer)
    }
    return writer.bytes
  }
}
