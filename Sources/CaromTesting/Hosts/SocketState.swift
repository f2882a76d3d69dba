import CaromCore

/// The state of a datagram socket.
struct SocketState: Sendable {
  /// A multicast group and port on one segment, the key by which member sockets are found.
  struct Group: Hashable, Sendable {
    let address: IPAddress
    let port: UInt16
    let segment: Int
  }

  /// A socket in a multicast group.
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
