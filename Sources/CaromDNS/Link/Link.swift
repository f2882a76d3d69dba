import CaromCore

/// One interface as the machines see it: its index and the addresses that are valid on it.
package struct Link: Hashable, Sendable {
  /// An address of ours and the length of its subnet's prefix, bits.
  package struct Address: Hashable, Sendable {
    /// The address, without scope.
    package var address: IPAddress
    /// How many leading bits name the subnet.
    package var prefixLength: Int

    /// An address in a subnet.
    package init(_ address: IPAddress, prefixLength: Int) {
      self.address = address.scoped(to: 0)
      self.prefixLength = prefixLength
    }

    /// Whether `other` is in the same subnet.
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

  /// The system's number for the interface; it identifies the link.
  package var index: UInt32
  /// All addresses of ours that are valid on the link, in order, no two alike.
  package var addresses: [Address]
  /// Whether packets go to 224.0.0.251.
  package var usesV4: Bool
  /// Whether packets go to ff02::fb.
  package var usesV6: Bool
  /// How often the cable came and went, where that is known: with another number it may be
  /// another network, with others who have our names.
  package var epoch: UInt32
  /// Whether unicast answers reach this process: no other process has the port too
  /// (RFC 6762 §15.1). May change at any time.
  package var receivesUnicast: Bool
  /// The largest packet that the link carries whole, bytes with all headers; `nil` for that of
  /// Ethernet. May change at any time.
  package var mtu: Int?

  /// A link; the families default to those that it has addresses of.
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

  /// Whether names that were claimed on `other` are claimed on this one too: its addresses,
  /// families and cable are the same.
  func isSame(as other: Link) -> Bool {
    index == other.index && addresses == other.addresses && usesV4 == other.usesV4
      && usesV6 == other.usesV6 && epoch == other.epoch
  }

  /// The largest message that is sent here, bytes, but for a single record that needs more: the
  /// packet less the headers of IPv6 and UDP, or of IPv4 and UDP (RFC 6762 §17). Not over an
  /// Ethernet frame, since not all hosts of a link allow more.
  var payloadLimit: Int {
    guard let mtu else { return Message.maximumSentLength }
    return max(Self.minimumPayload, min(mtu, Self.ethernetMTU) - (usesV6 ? 48 : 28))
  }

  /// What every host takes (RFC 1122 §3.3.2), bytes less headers.
  static let minimumPayload = 528
  /// What an Ethernet frame holds, bytes.
  static let ethernetMTU = 1500

  /// Whether a packet from `source` came from this link (RFC 6762 §11).
  package func isOnLink(_ source: IPAddress) -> Bool {
    source.isLinkLocal || addresses.contains { $0.covers(source) }
  }

  /// Whether `source` is one of this host's own addresses here.
  package func hasAddress(_ source: IPAddress) -> Bool {
    let plain = source.scoped(to: 0)
    return addresses.contains { $0.address == plain }
  }

  /// Where multicasts on this link go, one endpoint a family.
  var groups: [Endpoint] {
    (usesV4 ? [MulticastGroup.v4] : []) + (usesV6 ? [MulticastGroup.v6.scoped(to: index)] : [])
  }
}

extension Endpoint {
  fileprivate func scoped(to interface: UInt32) -> Endpoint {
    Endpoint(address.scoped(to: interface), port: port)
  }
}

/// The groups and the port of multicast DNS (RFC 6762 §3).
package enum MulticastGroup {
  /// 5353, for both ends of every packet.
  package static let port: UInt16 = 5353
  /// 224.0.0.251:5353
  package static let v4 = Endpoint(.v4(0xE000_00FB), port: port)
  /// [ff02::fb]:5353, without scope.
  package static let v6 = Endpoint(.v6(high: 0xFF02 << 48, low: 0xFB, scope: 0), port: port)
}
