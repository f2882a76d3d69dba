import CaromProtocol
import CaromTransport

/// The state that the nodes listening on one port share.
final class PortShare: Sendable {
  let seats: Int
  let spectatorSeats: Int
  /// The host secret, which all nodes share, because a client may return one node's cookie to
  /// another.
  let secret: HostSecret
  /// The security settings that all nodes share, including their identity.
  let security: SessionSecurity
  /// The directory of the group: the connection keys, the seats and the address tokens of all
  /// nodes.
  let directory: Locked<HostDirectory>
  let browsers: BrowserOptions
  let routing: SessionRouting

  init(
    seats: Int, spectatorSeats: Int, security: SessionSecurity,
    browsers: BrowserOptions = BrowserOptions(), routing: SessionRouting = SessionRouting(),
    on loop: NetworkLoop
  ) {
    self.browsers = browsers
    self.routing = routing
    let security = security.withIdentity(on: loop)
    self.security = security
    self.seats = seats
    self.spectatorSeats = spectatorSeats
    secret = SessionNode.makeSecret(on: loop)
    directory = Locked(
      HostDirectory(
        seats: seats, spectatorSeats: spectatorSeats,
        security: security.makeLinkSecurity(on: loop)))
  }
}

/// A node's references to the nodes that share its port, and its counters of forwarded data.
struct PortGroup {
  let share: PortShare
  /// All nodes of the group, including this one. A node's index is its member number.
  var nodes: [SessionNode] = []
  /// The number of datagrams that arrived at this node and were forwarded to the node of their
  /// peer.
  var datagramsForwarded: UInt64 = 0
  /// The number of streams that arrived at this node and were handed over to the node of their
  /// peer.
  var streamsForwarded: UInt64 = 0

  init(share: PortShare) { self.share = share }
}

/// A stream or an eviction that one node of a group hands to another.
struct NodeHandoff: Sendable {
  /// The maximum number of forwarded datagrams that wait for a node. Beyond this number, datagrams
  /// are dropped, as a network would drop them.
  static let datagramLimit = 4096
  /// The maximum number of handed-over streams that wait for a node, equal to the maximum number of
  /// connections. Beyond this number, streams are closed. Evictions are always accepted, because
  /// there is at most one for each seat.
  static let streamLimit = 4096

  let mail: Handoff
  var stream: DetachedStream?
}
