import CaromCore

/// A host of a `VirtualNetwork`: a process on a machine. Hosts on one machine share its addresses.
public struct VirtualHost: Hashable, Sendable {
  /// The id of a host in its network.
  public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The index of the host in order of creation, counted from 0.
    public let number: Int

    /// The id as text, such as "host 3".
    public var description: String { "host \(number)" }

    /// Orders ids by number.
    public static func < (a: ID, b: ID) -> Bool { a.number < b.number }
  }

  /// A network interface of a machine. A machine has one interface for each segment to which it is
  /// attached.
  public struct Interface: Hashable, Sendable {
    /// The interface index. A machine's first interface has index 2, since 1 is the loopback
    /// interface.
    public let index: UInt32
    /// The number of the network segment. Multicast reaches all hosts of the segment and no others.
    public let segment: Int
    /// The IPv4 address, 10.segment.x.y.
    public let v4: IPAddress
    /// The link-local IPv6 address, scoped to the interface.
    public let v6: IPAddress
  }

  /// The host's id.
  public let id: ID
  /// The number of the host's machine. Hosts on the same machine share its addresses and faults.
  public let machine: Int
  /// The interfaces of the machine. There is at least one.
  public let interfaces: [Interface]

  /// The first interface's IPv4 address.
  public var v4: IPAddress { interfaces[0].v4 }
  /// The first interface's IPv6 address.
  public var v6: IPAddress { interfaces[0].v6 }
}
