import CaromCore

/// A host of a `VirtualNetwork`: one process on one machine with addresses.
public struct VirtualHost: Hashable, Sendable {
  /// What a host is called by, 0 for the first.
  public struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Counts from 0 in the order of creation.
    public let number: Int

    /// "host 3"
    public var description: String { "host \(number)" }

    /// By number.
    public static func < (a: ID, b: ID) -> Bool { a.number < b.number }
  }

  /// A network card: one per segment that the machine is on.
  public struct Interface: Hashable, Sendable {
    /// 2 for the first, since 1 is the loopback.
    public let index: UInt32
    /// The segment that the card is on: multicast reaches all of it and nothing else.
    public let segment: Int
    /// Its IPv4 address: 10.segment.x.y.
    public let v4: IPAddress
    /// Its link-local IPv6 address, scoped to the interface.
    public let v6: IPAddress
  }

  /// The host's id: its index in the order of creation.
  public let id: ID
  /// The machine: hosts that share one have the same addresses and lose the cable together.
  public let machine: Int
  /// At least one.
  public let interfaces: [Interface]

  /// The first interface's IPv4 address.
  public var v4: IPAddress { interfaces[0].v4 }
  /// The first interface's IPv6 address.
  public var v6: IPAddress { interfaces[0].v6 }
}
