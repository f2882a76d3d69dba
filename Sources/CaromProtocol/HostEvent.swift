/// What a host machine tells its owner, and about which link.
package enum HostEvent: Hashable, Sendable {
  /// A peer asks for a seat, and one is free (or `replacing` would give its own up).
  case requested(LinkID, PeerInfo, replacing: LinkID?)
  /// The peer is connected.
  case opened(LinkID, PeerInfo)
  case message(LinkID, channel: UInt16, bytes: [UInt8])
  case measured(LinkID, RoundTrip)
  case writable(LinkID)
  /// The connection ended; `wasOpen` tells a lost peer from an attempt that came to nothing.
  case closed(LinkID, PeerInfo?, DisconnectReason, wasOpen: Bool)
}
