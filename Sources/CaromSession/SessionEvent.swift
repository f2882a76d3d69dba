import CaromCore
import CaromProtocol

/// What a session node tells its owner, in order.
public enum SessionEvent: Hashable, Sendable {
  /// A peer asks for a seat: answer with `admit` or `close`. Admitting it ends `replacing`.
  case requested(LinkID, PeerInfo, replacing: LinkID?)
  /// The peer is connected.
  case opened(LinkID, PeerInfo)
  /// A message of the application.
  case message(LinkID, channel: UInt16, bytes: [UInt8])
  /// The round trip to a peer was measured anew.
  case measured(LinkID, RoundTrip)
  /// After a `queueFull`: half of the queue is free again.
  case writable(LinkID)
  /// The connection ended, once; `wasOpen` tells a lost peer from an attempt that came to nothing.
  case closed(LinkID, PeerInfo?, DisconnectReason, wasOpen: Bool)
  /// A node that matches players: tell everybody this, from now on.
  case advertise(Sighting.Status, freeSeats: Int)
  /// A node that matches players: find out where the peer listens, then call `open`.
  case connect(PeerID, LinkID)

  /// Whether it is for finding a partner: a node that retires has no use for it any more.
  var isMatching: Bool {
    switch self {
    case .advertise, .connect: true
    default: false
    }
  }

  init?(_ event: LobbyEvent) {
    switch event {
    case .host(.requested(let link, let info, let replacing)):
      self = .requested(link, info, replacing: replacing)
    case .host(.opened(let link, let info)): self = .opened(link, info)
    case .host(.message(let link, let channel, let bytes)):
      self = .message(link, channel: channel, bytes: bytes)
    case .host(.measured(let link, let roundTrip)): self = .measured(link, roundTrip)
    case .host(.writable(let link)): self = .writable(link)
    case .host(.closed(let link, let info, let reason, let wasOpen)):
      self = .closed(link, info, reason, wasOpen: wasOpen)
    case .advertise(let status, let seats): self = .advertise(status, freeSeats: seats)
    case .connect(let peer, let link): self = .connect(peer, link)
    case .cancelConnect: return nil
    }
  }
}
