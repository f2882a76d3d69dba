import CaromCore
import CaromGroup
import CaromProtocol
import CaromSession

/// The messages of a group to one peer. If the application has filled the queue to the peer, they
/// wait, in order.
struct GroupLink {
  /// The maximum number of messages that wait. A peer that does not read them is disconnected.
  private static let limit = 4096

  private struct Message {
    let channel: GroupChannel
    let bytes: [UInt8]
  }

  let peer: Peer
  private var waiting = Deque<Message>()
  /// Whether the peer was disconnected because it does not read the messages.
  private var isClosed = false

  init(_ peer: Peer) { self.peer = peer }

  /// Whether messages wait.
  var isBlocked: Bool { !waiting.isEmpty }

  /// Sends a message after those that wait. A ballot replaces one that still waits, because only
  /// the newest counts: they would accumulate for a peer that is in no group and reads none.
  mutating func send(_ bytes: [UInt8], on channel: GroupChannel) {
    guard !isClosed else { return }
    if channel == .election { _ = waiting.removeFirst { $0.channel == .election } }
    guard waiting.count < Self.limit else {
      peer.disconnect(Goodbye(.tooSlow), as: .tooSlow)
      waiting = Deque()
      isClosed = true
      return
    }
    waiting.append(Message(channel: channel, bytes: bytes))
    sendWaiting()
  }

  /// Sends what waits, until the queue to the peer is full.
  mutating func sendWaiting() {
    while let message = waiting.first {
      do throws(SendError) {
        try peer.sendNow(message.bytes, on: message.channel)
      } catch {
        if case .queueFull = error { return }
        // The connection has ended; the event that the peer has left follows.
        waiting = Deque()
        return
      }
      waiting.popFirst()
    }
  }
}
