import CaromCore
import CaromProtocol

/// A node's handlers, and the events and messages that have not been passed to them yet.
struct EventFeed {
  var handler: ((SessionEvent) -> Void)?
  var messageHandler: ((SessionMessage) -> Void)?
  /// Called after a batch of messages and events has been passed to the handlers.
  var batchHandler: (() -> Void)?
  /// The events that were emitted while there was no handler.
  var held = Deque<SessionEvent>()
  /// The paused channels, whose messages stay in their connections if they need credit.
  var paused = ChannelMask()
  /// The channels whose messages stay in a connection until it has joined; nil if every connection
  /// joins when it opens.
  var channelsBeforeJoining: ChannelMask?
  /// The open connections that have not joined yet.
  var unjoined: Set<ConnectionID> = []
  /// The connections with unread messages, in the order in which they will be read.
  var unread = Deque<ConnectionID>()
  /// Whether a channel was resumed, so that messages from the connections in `unread` can be
  /// delivered.
  var isUnreadDue = false

  /// The channels whose messages stay in this connection if they need credit.
  func pausedChannels(of connection: ConnectionID) -> ChannelMask {
    guard let channelsBeforeJoining, unjoined.contains(connection) else { return paused }
    return ChannelMask(bits: paused.bits | channelsBeforeJoining.bits)
  }

  var hasHandler: Bool { handler != nil || messageHandler != nil }

  /// Holds an event until there is a handler. If `SessionNode.heldEventLimit` events are already
  /// held, drops a new round-trip measurement; any other event replaces the oldest. Returns the
  /// replaced event, or nil if there is none.
  mutating func hold(_ event: SessionEvent) -> SessionEvent? {
    var replaced: SessionEvent?
    if held.count >= SessionNode.heldEventLimit {
      if case .measured = event { return nil }
      replaced = held.popFirst()
    }
    held.append(event)
    return replaced
  }
}
