import CaromCore
import CaromProtocol

/// What a session node tells its owner, in order.
public enum SessionEvent: Hashable, Sendable {
  /// A peer asks for a seat: answer with `admit` or `close`. Admitting it ends `replacing`.
  case requested(ConnectionID, PeerInfo, replacing: ConnectionID?)
  /// The peer is connected.
  case opened(ConnectionID, PeerInfo)
  /// A message of the application.
  case message(ConnectionID, channel: UInt8, bytes: [UInt8])
  /// The round trip to a peer was measured anew.
  case measured(ConnectionID, RoundTrip)
  /// After a `queueFull`: half of the queue is free again.
  case writable(ConnectionID)
  /// A message's lifetime passed before it left; the number is what `send` returned.
  case expired(ConnectionID, channel: UInt8, message: UInt64)
  /// What became of a message that asked for a receipt: it is with the peer, or it was lost.
  case receipt(ConnectionID, channel: UInt8, message: UInt64, delivered: Bool)
  /// Messages go by another kind of link from now on; none was lost or doubled.
  case linkChanged(ConnectionID, LinkKind)
  /// No link works; the connection waits for `SessionTiming.resumeLimit` to be resumed.
  case interrupted(ConnectionID)
  /// A link works again, and nothing reliable was lost.
  case resumed(ConnectionID)
  /// A watched input has been silent for its limit, or its peer is gone: stop what it steers.
  case inputStopped(ConnectionID, channel: UInt8)
  /// A watched input that had stopped goes on.
  case inputResumed(ConnectionID, channel: UInt8)
  /// The connection ended, once; `wasOpen` tells a lost peer from an attempt that came to nothing.
  case closed(ConnectionID, PeerInfo?, DisconnectReason, wasOpen: Bool)
  /// A node that matches players: tell everybody this, from now on.
  case advertise(Sighting.Status, freeSeats: Int)
  /// A node that matches players: find out where the peer listens, then call `open`.
  case connect(PeerID, ConnectionID)

  /// Whether it is for finding a partner: a node that retires has no use for it any more.
  var isMatching: Bool {
    switch self {
    case .advertise, .connect: true
    default: false
    }
  }

  /// The link that has ended, if that is what it tells.
  var endedLink: ConnectionID? {
    if case .closed(let link, _, _, _) = self { link } else { nil }
  }

  init?(_ event: LobbyEvent) {
    switch event {
    case .host(.requested(let id, let info, let replacing)):
      self = .requested(id, info, replacing: replacing)
    case .host(.connection(let id, let event)): self.init(event, on: id)
    case .host(.closed(let id, let info, let reason, let wasOpen)):
      self = .closed(id, info, reason, wasOpen: wasOpen)
    case .advertise(let status, let seats): self = .advertise(status, freeSeats: seats)
    case .connect(let peer, let id): self = .connect(peer, id)
    case .cancelConnect, .host(.adopted): return nil
    }
  }

  private init?(_ event: ConnectionEvent, on id: ConnectionID) {
    switch event {
    case .opened(let info): self = .opened(id, info)
    case .measured(let roundTrip): self = .measured(id, roundTrip)
    case .channel(let event): self.init(event, on: id)
    case .linkChanged(let kind): self = .linkChanged(id, kind)
    case .interrupted: self = .interrupted(id)
    case .resumed: self = .resumed(id)
    case .requested, .joining, .closed, .messages, .reconnect, .invited: return nil
    }
  }

  private init(_ event: ChannelEvent, on link: ConnectionID) {
    switch event {
    case .writable: self = .writable(link)
    case .expired(let channel, let message):
      self = .expired(link, channel: channel, message: message)
    case .receipt(let channel, let message, let delivered):
      self = .receipt(link, channel: channel, message: message, delivered: delivered)
    }
  }
}
