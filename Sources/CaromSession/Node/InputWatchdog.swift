import CaromCore
import CaromProtocol

/// Detects when a peer's input stops and when it resumes, as a fail-safe for the objects that the
/// input controls.
struct InputWatchdog: Sendable {
  private struct Watch: Sendable {
    let channel: UInt8
    var limit: Duration
  }

  private struct Input: Sendable {
    let connection: ConnectionID
    let channel: UInt8
    var receivedAt: Instant
    var isStopped = false
  }

  private var watches: [Watch] = []
  private var inputs: [Input] = []
  /// The open connections. A message from any other connection is read after the connection has
  /// ended, and does not count as input.
  private var connections: Set<ConnectionID> = []
  /// The channels that have an entry in `watches`.
  private(set) var channels = ChannelMask()

  /// Watches a channel for senders that are silent for longer than `limit`, or stops watching the
  /// channel if `limit` is nil.
  mutating func watch(_ channel: UInt8, limit: Duration?) {
    watches.removeAll { $0.channel == channel }
    guard let limit else {
      channels.remove(channel)
      inputs.removeAll { $0.channel == channel }
      return
    }
    precondition(limit > .zero, "the limit of an input's silence must be positive")
    watches.append(Watch(channel: channel, limit: limit))
    channels.insert(channel)
  }

  /// Adds a connection that has opened.
  mutating func add(_ connection: ConnectionID) { connections.insert(connection) }

  /// Records that a peer sent a message on a watched channel. Returns whether the peer's input on
  /// that channel had stopped, so that this message resumes it.
  mutating func recordMessage(
    of connection: ConnectionID, on channel: UInt8, at now: Instant
  ) -> Bool {
    let known = inputs.firstIndex { $0.connection == connection && $0.channel == channel }
    guard let index = known else {
      if connections.contains(connection) {
        inputs.append(Input(connection: connection, channel: channel, receivedAt: now))
      }
      return false
    }
    inputs[index].receivedAt = now
    defer { inputs[index].isStopped = false }
    return inputs[index].isStopped
  }

  /// Marks as stopped all inputs that have been silent for as long as their limit, and returns
  /// those that were not yet marked.
  mutating func takeStopped(at now: Instant) -> [(connection: ConnectionID, channel: UInt8)] {
    var stopped: [(ConnectionID, UInt8)] = []
    for index in inputs.indices where !inputs[index].isStopped {
      guard now >= deadline(of: inputs[index]) else { continue }
      inputs[index].isStopped = true
      stopped.append((inputs[index].connection, inputs[index].channel))
    }
    return stopped
  }

  /// Removes a connection that has ended, with its inputs. Returns the channels of the inputs that
  /// had not already stopped.
  mutating func remove(_ connection: ConnectionID) -> [UInt8] {
    connections.remove(connection)
    defer { inputs.removeAll { $0.connection == connection } }
    return inputs.filter { $0.connection == connection && !$0.isStopped }.map(\.channel)
  }

  /// The earliest time at which an input will count as stopped, or nil if every input has stopped
  /// already.
  var nextTimeout: Instant? {
    inputs.reduce(nil) { $1.isStopped ? $0 : earliest($0, deadline(of: $1)) }
  }

  private func deadline(of input: Input) -> Instant {
    let limit = watches.first { $0.channel == input.channel }?.limit ?? .zero
    return input.receivedAt.advanced(by: limit)
  }
}
