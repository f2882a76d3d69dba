import CaromCore
import CaromProtocol

/// A node's handlers, and the events and messages that they have not taken yet.
struct EventFeed {
  var handler: ((SessionEvent) -> Void)?
  var messageHandler: ((SessionMessage) -> Void)?
  /// Events that were emitted while there was no handler.
  var held = Deque<SessionEvent>()
  /// Channels whose reliable messages stay in their connections.
  var paused = ChannelMask()
  /// Connections with unread messages.
  var unread = Deque<ConnectionID>()

  var hasHandler: Bool { handler != nil || messageHandler != nil }

  /// Holds an event until there is a handler. If `SessionNode.heldEventLimit` events are held, a
  /// new round-trip measurement is dropped, and any other event displaces the oldest.
  mutating func hold(_ event: SessionEvent) {
    if held.count >= SessionNode.heldEventLimit {
      if case .measured = event { return }
      _ = held.popFirst()
    }
    held.append(event)
  }
}
