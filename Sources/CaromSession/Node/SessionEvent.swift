import CaromCore
import CaromProtocol

/// An event that a session node reports to its owner. Events are reported in the order in which
/// they happened.
public enum SessionEvent: Hashable, Sendable {
  /// A peer requests a seat. Answer with `admit` or `close`. If `replacing` is not nil, admitting
  /// the peer closes that connection and gives its seat to the peer.
  case requested(ConnectionID, PeerInfo, replacing: ConnectionID?)
  /// A peer with a door token asks where its match is. Answer with `close`: the peer gets no seat.
  case asked(ConnectionID, PeerInfo)
  /// A connection has opened.
  case opened(ConnectionID, PeerInfo)
  /// An application message has arrived.
  case message(ConnectionID, channel: UInt8, bytes: [UInt8])
  /// The round-trip time to a peer has been measured again.
  case measured(ConnectionID, RoundTrip)
  /// The send queue, which had refused a message with `queueFull`, is at most half full now.
  case writable(ConnectionID)
  /// A message was dropped because its lifetime passed before it was sent. If `sendForReceipt` sent
  /// the message, `message` is the number that it returned.
  case expired(ConnectionID, channel: UInt8, message: UInt64)
  /// The delivery receipt of a message. `delivered` is true if the peer has received the message,
  /// and false if the message was lost or dropped.
  case receipt(ConnectionID, channel: UInt8, message: UInt64, delivered: Bool)
  /// A different kind of link now carries the messages. The change neither lost nor duplicated a
  /// reliable message.
  case linkChanged(ConnectionID, LinkKind)
  /// No link carries the connection. It can be resumed within `SessionTiming.resumeLimit`.
  case interrupted(ConnectionID)
  /// A link carries the interrupted connection again, and no reliable message was lost.
  case resumed(ConnectionID)
  /// A watched input has been silent for its time limit, or its peer has disconnected. Stop the
  /// objects that the input controls.
  case inputStopped(ConnectionID, channel: UInt8)
  /// Messages of a watched input have arrived again after the input had stopped.
  case inputResumed(ConnectionID, channel: UInt8)
  /// Somebody has tried to join with a wrong code.
  case wrongCode(WrongCode)
  /// A connection or a connection attempt has ended. `wasOpen` is false if the connection never
  /// opened.
  case closed(ConnectionID, PeerInfo?, DisconnectReason, wasOpen: Bool)
  /// In matchmaking mode: publish this status and number of free seats until the next such event.
  case advertise(Sighting.Status, freeSeats: Int)
  /// In matchmaking mode: find out where the peer listens, then call `open`, or call `failConnect`
  /// if the peer cannot be found.
  case connect(PeerID, ConnectionID)

  /// Whether the event concerns the search for an opponent. A retired node does not report such
  /// events.
  var isMatching: Bool {
    switch self {
    case .advertise, .connect: true
    default: false
    }
  }

  /// The connection that has ended, if this is a `closed` event; nil otherwise.
  var endedConnection: ConnectionID? {
    if case .closed(let connection, _, _, _) = self { connection } else { nil }
  }

  init?(_ event: LobbyEvent) {
    switch event {
    case .host(.requested(let id, let info, let replacing)):
      self = .requested(id, info, replacing: replacing)
    case .host(.asked(let id, let info)): self = .asked(id, info)
    case .host(.wrongCode(let failure)): self = .wrongCode(failure)
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
    case .requested, .attempted, .presented, .beganWithKnownKey, .joining, .closed, .messages,
      .reconnect, .invited:
      return nil
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
