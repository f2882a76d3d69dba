import CaromCore
import CaromProtocol

/// An event that a session node reports to its owner. Events are reported in order.
public enum SessionEvent: Hashable, Sendable {
  /// A peer asks for a seat. Answer with `admit` or `close`. Admitting the peer closes `replacing`,
  /// an older connection of the same peer, if it is not nil.
  case requested(ConnectionID, PeerInfo, replacing: ConnectionID?)
  /// A connection is open.
  case opened(ConnectionID, PeerInfo)
  /// A message of the application has arrived.
  case message(ConnectionID, channel: UInt8, bytes: [UInt8])
  /// The round trip to a peer has been measured again.
  case measured(ConnectionID, RoundTrip)
  /// After a `queueFull` error: half of the send queue is free again.
  case writable(ConnectionID)
  /// The lifetime of a message passed before the message was sent; `message` is the number that
  /// `send` returned.
  case expired(ConnectionID, channel: UInt8, message: UInt64)
  /// The delivery receipt of a message: whether the peer has received it, or it was lost.
  case receipt(ConnectionID, channel: UInt8, message: UInt64, delivered: Bool)
  /// Messages now use another kind of link. No message was lost or duplicated by the change.
  case linkChanged(ConnectionID, LinkKind)
  /// No link works. The connection can be resumed within `SessionTiming.resumeLimit`.
  case interrupted(ConnectionID)
  /// An interrupted connection works again, and no reliable message was lost.
  case resumed(ConnectionID)
  /// A watched input has been silent for its limit, or its peer has disconnected: stop whatever
  /// the input controls.
  case inputStopped(ConnectionID, channel: UInt8)
  /// Messages of a watched input that had stopped arrive again.
  case inputResumed(ConnectionID, channel: UInt8)
  /// A connection or a connection attempt has ended. `wasOpen` is false for an attempt.
  case closed(ConnectionID, PeerInfo?, DisconnectReason, wasOpen: Bool)
  /// In matchmaking mode: publish this status and number of free seats until the next such event.
  case advertise(Sighting.Status, freeSeats: Int)
  /// In matchmaking mode: find out where the peer listens, then call `open`, or `failConnect` if
  /// that is not possible.
  case connect(PeerID, ConnectionID)

  /// Whether the event serves finding a partner. A retired node does not report such events.
  var isMatching: Bool {
    switch self {
    case .advertise, .connect: true
    default: false
    }
  }

  /// The connection that has ended, if this is a `closed` event.
  var endedConnection: ConnectionID? {
    if case .closed(let connection, _, _, _) = self { connection } else { nil }
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

  private init(_ event: ChannelEvent, on id: ConnectionID) {
    switch event {
    case .writable: self = .writable(id)
    case .expired(let channel, let message): self = .expired(id, channel: channel, message: message)
    case .receipt(let channel, let message, let delivered):
      self = .receipt(id, channel: channel, message: message, delivered: delivered)
    }
  }
}
