import CaromCore

/// A datagram socket and the groups that it is in.
struct SocketState: Sendable {
  /// Who hears a multicast: a group and a port on a segment.
  struct Group: Hashable, Sendable {
    let address: IPAddress
    let port: UInt16
    let segment: Int
  }

  /// One of a group's sockets.
  struct Member: Comparable, Sendable {
    let machine: Int
    let socket: Int

    static func < (a: Member, b: Member) -> Bool { (a.machine, a.socket) < (b.machine, b.socket) }
  }

  let host: VirtualHost.ID
  let port: UInt16
  var isOpen = true
  var groups: [Group] = []
}
