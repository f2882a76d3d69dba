import CaromCore
import CaromProtocol
import CaromSimulation

/// The two channels of a rollback match: one for inputs, which may be lost because each message
/// repeats all unacknowledged inputs, and one for messages that must arrive.
public struct RollbackChannels: Hashable, Sendable {
  /// The channel of the inputs, which are sent every tick. Its messages omit the byte that states
  /// the kind of message.
  public let inputs: MessageChannel<EncodedMessage>
  /// The channel of seats, keyframes and reports of desyncs.
  public let control: MessageChannel<RollbackPacket>

  /// Creates the channels with these numbers. Both sides must choose the same numbers, and must not
  /// use them for anything else.
  ///
  /// While the last messages of a match are on the way, its channels cannot carry another match
  /// with the same peers. For matches that follow each other over one session, give two pairs of
  /// channels in turn. Matches at the same time, each with peers of its own, share a pair: see
  /// `ConcurrentMatches`.
  public init(inputs: UInt8 = 54, control: UInt8 = 55) {
    precondition(inputs != control, "inputs and control messages need a channel each")
    self.inputs = MessageChannel(inputs, .unreliableSequenced, priority: 3)
    self.control = MessageChannel(control, .reliableOrdered, priority: 3)
  }

  /// Opens the inboxes of both channels. A match does so before it watches its peers: what a peer
  /// sent is then readable when the match learns that the peer has left.
  func open(over session: Session) {
    _ = session.inboxes.inbox(for: inputs)
    _ = session.inboxes.inbox(for: control)
  }

  /// Queues a message for a peer. Can be called on any thread. If a message that must arrive cannot
  /// be queued, because the peer's queue has no room or the message is too long, disconnects the
  /// peer, which could not continue the match.
  func post(_ message: RollbackMessage, _ bytes: [UInt8], to peer: Peer) {
    if message == .inputs {
      _ = peer.post(EncodedMessage(bytes), on: inputs)
    } else if !peer.post(RollbackPacket(message, bytes), on: control) {
      peer.disconnect(Goodbye(.tooSlow), as: .tooSlow)
    }
  }
}
