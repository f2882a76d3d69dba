import CaromCore

/// A network interface: its index, its addresses, and the properties that matter to multicast DNS.
package struct Link: Hashable, Sendable {
  /// One of this host's addresses and the length of its subnet prefix.
  package struct Address: Hashable, Sendable {
    /// The address, without an IPv6 scope.
    package var address: IPAddress
    /// The number of leading bits that identify the subnet.
    package var prefixLength: Int

    /// Creates an address with its prefix length, and removes its IPv6 scope.
    package init(_ address: IPAddress, prefixLength: Int) {
      self.address = address.scoped(to: 0)
      self.prefixLength = prefixLength
    }

    /// Returns whether `other` belongs to the same subnet.
    func covers(_ other: IPAddress) -> Bool {
      let mine = address.bytes
      let theirs = other.bytes
      guard mine.count == theirs.count else { return false }
      for index in mine.indices {
        let bits = min(8, max(0, prefixLength - index * 8))
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        if mine[index] & mask != theirs[index] & mask { return false }
      }
      return true
    }
  }

  /// The operating system's index of the interface, which identifies the link.
  package var index: UInt32
  /// This host's addresses on the link, sorted, without duplicates.
  package var addresses: [Address]
  /// Whether packets are sent to the IPv4 group 224.0.0.251.
  package var usesV4: Bool
  /// Whether packets are sent to the IPv6 group ff02::fb.
  package var usesV6: Bool
  /// The number of times that the link's carrier has gone down or come up, or 0 if the system does
  /// not report this number. After a change, the interface may be attached to a different network,
  /// where other hosts use this host's names.
  package var epoch: UInt32
  /// Whether unicast responses reach this process, which requires that no other process has bound
  /// port 5353 (RFC 6762 §15.1). May change at any time.
  package var receivesUnicast: Bool
  /// The maximum length of a packet that the link carries without fragmentation, in bytes including
  /// all headers, or nil to assume Ethernet's 1,500. May change at any time.
  package var mtu: Int?

  /// Creates a link. By default the link uses the address families of its addresses.
  package init(
    index: UInt32, addresses: [Address], usesV4: Bool? = nil, usesV6: Bool? = nil,
    epoch: UInt32 = 0, receivesUnicast: Bool = false, mtu: Int? = nil
  ) {
    self.epoch = epoch
    self.receivesUnicast = receivesUnicast
    self.mtu = mtu
    self.index = index
    self.addresses = Set(addresses).sorted { $0.address < $1.address }
    self.usesV4 = usesV4 ?? addresses.contains { !$0.address.isV6 }
    self.usesV6 = usesV6 ?? addresses.contains { $0.address.isV6 }
  }

  /// Returns whether names claimed on `other` remain claimed on this link, which requires that the
  /// interface, the addresses, the address families and the carrier epoch are equal.
  func isSame(as other: Link) -> Bool {
    index == other.index && addresses == other.addresses && usesV4 == other.usesV4
      && usesV6 == other.usesV6 && epoch == other.epoch
  }

  /// The maximum length of a message to send, in bytes: the MTU, at most Ethernet's, less the IP
  /// and UDP headers (RFC 6762 §17). Not all hosts on a link accept larger frames. A message may
  /// exceed the limit only if it carries a single record that does not fit.
  var payloadLimit: Int {
    guard let mtu else { return Message.maximumSentLength }
    return max(Self.minimumPayload, min(mtu, Self.ethernetMTU) - (usesV6 ? 48 : 28))
  }

  /// The length of the payload that every host must accept, in bytes without headers (RFC 1122
  /// §3.3.2).
  static let minimumPayload = 528
  /// The MTU of Ethernet, in bytes.
  static let ethernetMTU = 1500

  /// Returns whether a packet from `source` originated on this link (RFC 6762 §11).
  package func isOnLink(_ source: IPAddress) -> Bool {
    source.isLinkLocal || addresses.contains { $0.covers(source) }
  }

  /// Returns whether `source` is one of this host's addresses on the link.
  package func hasAddress(_ source: IPAddress) -> Bool {
    let plain = source.scoped(to: 0)
    return addresses.contains { $0.address == plain }
  }

  /// The reverse names of this host's addresses, whose PTR records this process publishes. Empty
  /// while another process may be the host's responder: that process may publish the same names
  /// with its own host name, and would take this process's records for a conflict.
  var reverseNames: [Name] {
    guard receivesUnicast else { return [] }
    return addresses.lazy.map(\.address).filter { !$0.isLoopback }.map(\.reverseName)
  }

  /// The multicast destinations on this link, one for each address family in use.
  var groups: [Endpoint] {
    (usesV4 ? [MulticastGroup.v4] : []) + (usesV6 ? [MulticastGroup.v6.scoped(to: index)] : [])
  }
}

extension Endpoint {
  fileprivate func scoped(to interface: UInt32) -> Endpoint {
    Endpoint(address.scoped(to: interface), port: port)
  }
}

/// The multicast addresses and the port of multicast DNS (RFC 6762 §3).
package enum MulticastGroup {
  /// The source and destination port of every multicast DNS packet.
  package static let port: UInt16 = 5353
  /// The IPv4 group and port, 224.0.0.251:5353.
  package static let v4 = Endpoint(.v4(0xE000_00FB), port: port)
  /// The IPv6 group and port, [ff02::fb]:5353, without a scope.
  package static let v6 = Endpoint(.v6(high: 0xFF02 << 48, low: 0xFB, scope: 0), port: port)
}
