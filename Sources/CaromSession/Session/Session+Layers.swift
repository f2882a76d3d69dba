import CaromCore
import CaromProtocol
import CaromTransport

// For the layers above sessions, whose messages travel on channels that they reserve.
extension Session {
  /// Sets the receiver of a channel, in place of a sequence of messages. `receive` is called on the
  /// peer's loop for each message, beginning with those that arrived earlier, and must not block.
  /// If it returns false, the message violates the protocol, and the connection is closed.
  package func setReceiver(
    of channel: UInt8, _ receive: @escaping @Sendable (Peer, borrowing Span<UInt8>) -> Bool
  ) async {
    for hub in hubs {
      await hub.setReader(
        SessionHub.Reader { peer, bytes in receive(peer, bytes) ? .accepted : .malformed },
        of: channel)
    }
  }

  /// Calls `observer` on the loop of each peer with the peer's events until the session ends. The
  /// observer first receives a `joined` event for each peer that is connected, and a `left` event
  /// for each peer in `expected` that is no longer connected.
  package func addObserver(
    expecting expected: [Peer] = [], _ observer: @escaping @Sendable (PeerEvent) -> Void
  ) async {
    for hub in hubs {
      await hub.addObserver(ObjectIdentifier(hub), expecting: expected, observer)
    }
  }

  /// Adds an observer, as `addObserver` does, and sets the receiver of `channels`, as `setReceiver`
  /// does, while nothing else happens on the loop. `detach` with the same key removes both.
  package func attach(
    _ key: ObjectIdentifier, to channels: [UInt8],
    observe: @escaping @Sendable (PeerEvent) -> Void,
    receive: @escaping @Sendable (Peer, UInt8, borrowing Span<UInt8>) -> Bool
  ) async {
    for hub in hubs { await hub.attach(key, to: channels, observe, receive) }
  }

  /// Removes the observer and the receiver that `attach` has added. Messages on the channels are
  /// ignored from now on, so that peers that still send them do not have to wait.
  package func detach(_ key: ObjectIdentifier) async {
    for hub in hubs { await hub.detach(key) }
  }
}

extension Peer {
  /// The loop of the peer's connection.
  package var loop: NetworkLoop { hub.loop }

  /// The counters and measurements of the connection, as `statistics` has them. Must be called on
  /// the peer's loop.
  package var currentStatistics: PeerStatistics? {
    let connection = connectionID
    return node.assumeIsolated { $0.statistics(of: connection) }
  }

  /// Sends a message that is encoded already. Must be called on the peer's loop. `delivered` is
  /// called there once the peer's connection has received the message, and never if the connection
  /// ends before.
  package func sendNow(
    _ bytes: [UInt8], on channel: UInt8, _ delivery: Delivery, priority: UInt8,
    delivered: (@Sendable () -> Void)? = nil
  ) throws(SendError) {
    let (connection, node) = (connectionID, node)
    let result = node.assumeIsolated { node in
      node.send(bytes, on: channel, delivery, priority: priority, to: connection, delivered)
    }
    try result.get()
  }
}

extension SessionNode {
  fileprivate func send(
    _ bytes: [UInt8], on channel: UInt8, _ delivery: Delivery, priority: UInt8,
    to connection: ConnectionID, _ delivered: (@Sendable () -> Void)?
  ) -> Result<Void, SendError> {
    var options = SendOptions(delivery, wantsReceipt: delivered != nil)
    options.plan = ChannelPlan(priority: priority)
    do throws(SendError) {
      let number = try send(bytes.span, on: channel, options, to: connection)
      if let number, let delivered {
        waiters.receipts[ReceiptKey(connection: connection, message: number)] =
          .reported(delivered)
      }
      return .success(())
    } catch { return .failure(error) }
  }
}
