import CaromCore
import CaromProtocol
import CaromTransport

/// The connections whose send queues are full. They are examined to find the peers that read
/// nothing.
struct FullQueues {
  /// The number of times that a queue is examined within the time limit.
  static let checks = 8

  private struct Entry {
    /// The peer's `acknowledgedFrames` at the last examination. The bytes in the queue would not
    /// show progress, because the owner may immediately fill the queue again.
    var acknowledgedFrames: UInt32
    /// The number of examinations since the peer last acknowledged anything. Examinations are
    /// counted rather than time, so that a suspended process does not disconnect its peers when it
    /// continues.
    var checksWithoutProgress = 0
  }

  /// The time for which a peer with a full queue may read nothing; nil if there is no limit.
  var limit: Duration?
  var timer: LoopTimer?
  private var entries: [ConnectionID: Entry] = [:]

  var isEmpty: Bool { entries.isEmpty }
  var connections: [ConnectionID] { entries.keys.sorted() }
  /// The time between two examinations.
  var interval: Duration? { limit.map { $0 / Self.checks } }

  /// Adds a connection whose queue is full, unless it has already been added.
  mutating func add(_ connection: ConnectionID, acknowledgedFrames: UInt32) {
    guard limit != nil, entries[connection] == nil else { return }
    entries[connection] = Entry(acknowledgedFrames: acknowledgedFrames)
  }

  /// Removes a connection whose queue has shrunk to half, or that has ended.
  mutating func remove(_ connection: ConnectionID) {
    guard !entries.isEmpty else { return }
    entries[connection] = nil
    if entries.isEmpty { timer?.cancel() }
  }

  /// Examines a connection whose queue is full. Returns whether the peer has acknowledged nothing
  /// for the time limit. The time starts again whenever the connection is found to be interrupted.
  mutating func isTooSlow(
    _ connection: ConnectionID, acknowledgedFrames: UInt32, isInterrupted: Bool
  ) -> Bool {
    guard var entry = entries[connection] else { return false }
    if isInterrupted || acknowledgedFrames != entry.acknowledgedFrames {
      entry.checksWithoutProgress = 0
    } else {
      entry.checksWithoutProgress += 1
    }
    entry.acknowledgedFrames = acknowledgedFrames
    entries[connection] = entry
    return entry.checksWithoutProgress >= Self.checks
  }
}

extension SessionNode {
  /// Begins to watch the send queue of a connection, which has just refused a message.
  func watchFullQueue(of connection: ConnectionID) {
    guard let interval = fullQueues.interval else { return }
    let wasEmpty = fullQueues.isEmpty
    fullQueues.add(
      connection, acknowledgedFrames: lobby.host.acknowledgedFrames(of: connection))
    if wasEmpty { examineFullQueues(after: interval) }
  }

  private func examineFullQueues(after interval: Duration) {
    if fullQueues.timer == nil {
      fullQueues.timer = LoopTimer(on: loop, owner: self) { $0.disconnectSlowPeers() }
    }
    fullQueues.timer?.arm(at: loop.now + interval)
  }

  /// Examines all full queues, and disconnects the peers that are too slow.
  func disconnectSlowPeers() {
    for connection in fullQueues.connections {
      let isTooSlow = fullQueues.isTooSlow(
        connection, acknowledgedFrames: lobby.host.acknowledgedFrames(of: connection),
        isInterrupted: lobby.host.kind(of: connection) == nil)
      if isTooSlow { close(connection, Goodbye(.tooSlow), as: .tooSlow) }
    }
    guard !fullQueues.isEmpty, let interval = fullQueues.interval else { return }
    examineFullQueues(after: interval)
  }
}
