import CaromProtocol

/// An event of a session, which concerns one of its peers unless it is `refused`, `wrongCode` or
/// `missed`.
public enum PeerEvent: Hashable, Sendable {
  /// The peer has connected.
  case joined(Peer)
  /// A different kind of link now carries the peer's messages. The change neither lost nor
  /// duplicated a reliable message.
  case linkChanged(Peer, LinkKind)
  /// No link carries the peer's connection. It can be resumed within `SessionTiming.resumeLimit`,
  /// and the peer keeps its seat until then. `resumed` or `left` follows.
  case interrupted(Peer)
  /// A link carries the interrupted connection again, and no reliable message was lost.
  case resumed(Peer)
  /// A watched input has been silent for its time limit, or its peer has disconnected. Stop the
  /// objects that the input controls.
  case inputStopped(Peer, channel: UInt8)
  /// Messages of a watched input have arrived again after the input had stopped.
  case inputResumed(Peer, channel: UInt8)
  /// The peer has disconnected. The event is reported exactly once for each peer that joined.
  case left(Peer, DisconnectReason)
  /// The peer sent a message on this channel that cannot be decoded or that the session does not
  /// allow. The peer is disconnected: `left` follows, with the reason `protocolViolation`. Most
  /// often, the two sides declare the channel with different types of message.
  case malformed(Peer, channel: UInt8)
  /// A host has refused somebody who asked for a seat: because every seat is taken, because `admit`
  /// declined, or because the two do not fit together. While more than half of the unread events
  /// that a session keeps are waiting, refusals are not reported, so that they displace nothing.
  case refused(PeerInfo, DisconnectReason)
  /// Somebody has tried to join with a wrong code. After too many wrong attempts, the host refuses
  /// all attempts for a while, even with the right code.
  case wrongCode(WrongCode)
  /// The oldest events were dropped because they were not read in time. `events` is their number.
  /// `Session.peers` has the peers that are connected now. Observers miss no events.
  case missed(events: Int)
}

extension PeerEvent {
  /// The peer that the event concerns; nil if it is `refused`, `wrongCode` or `missed`.
  var peer: Peer? {
    switch self {
    case .joined(let peer), .linkChanged(let peer, _), .interrupted(let peer), .resumed(let peer),
      .inputStopped(let peer, _), .inputResumed(let peer, _), .left(let peer, _),
      .malformed(let peer, _):
      peer
    case .refused, .wrongCode, .missed: nil
    }
  }
}

extension PeerEvent: CustomStringConvertible {
  /// The event as a line for logs: "Maya (66e55068) left: timedOut".
  public var description: String {
    switch self {
    case .joined(let peer): "\(peer) joined (\(peer.protection))"
    case .linkChanged(let peer, let kind): "\(peer) uses \(kind) now"
    case .interrupted(let peer): "\(peer) is interrupted: no link works"
    case .resumed(let peer): "\(peer) is back"
    case .inputStopped(let peer, let channel): "\(peer) stopped sending on channel \(channel)"
    case .inputResumed(let peer, let channel): "\(peer) sends on channel \(channel) again"
    case .left(let peer, let reason): "\(peer) left: \(reason)"
    case .malformed(let peer, let channel): "\(peer) sent an invalid message on channel \(channel)"
    case .refused(let info, let reason): "\(info.text) was refused: \(reason)"
    case .wrongCode(let failure): "\(failure)"
    case .missed(let events): "\(events) events were missed"
    }
  }
}
