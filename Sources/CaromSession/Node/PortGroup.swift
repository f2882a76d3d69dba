import CaromProtocol
import CaromTransport

/// State shared by the nodes that listen on one port.
final class PortShare: Sendable {
  let seats: Int
  let spectatorSeats: Int
  /// The key of address cookies: a client may answer one node with a cookie from another.
  let secret: HostSecret
  /// The connections and seats of all nodes.
  let directory: Locked<HostDirectory>

  init(seats: Int, spectatorSeats: Int) {
    self.seats = seats
    self.spectatorSeats = spectatorSeats
    secret = SessionNode.makeSecret()
    directory = Locked(HostDirectory(seats: seats, spectatorSeats: spectatorSeats))
  }
}

/// One node's view of the nodes that share its port.
struct PortGroup {
  let share: PortShare
  /// All nodes of the group, including this one; the index is the node's member number.
  var nodes: [SessionNode] = []
  /// Datagrams that arrived here and were forwarded to the node of their peer.
  var datagramsForwarded: UInt64 = 0
  /// Streams that arrived here and were handed over to the node of their peer.
  var streamsForwarded: UInt64 = 0

  init(share: PortShare) { self.share = share }
}

/// A stream or an eviction that one node of a group hands to another.
struct NodeHandoff: Sendable {
  /// The most datagrams that wait for a node. Further ones are dropped, as a network would.
  static let datagramLimit = 4096
  /// The most handoffs that wait for a node; equal to the most connections. Streams beyond it are
  /// closed. Evictions are always accepted: there is at most one for each seat.
  static let streamLimit = 4096

  let mail: Handoff
  var stream: DetachedStream?
}
