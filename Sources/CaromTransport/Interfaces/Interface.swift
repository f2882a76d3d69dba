import CUVLoop
import CaromCore

/// A network interface of this host with its addresses.
public struct Interface: Hashable, Sendable {
  /// An address of an interface with its prefix length.
  public struct Address: Hashable, Sendable {
    /// The host's address. The scope of a link-local IPv6 address is the interface's index.
    public var address: IPAddress
    /// The length of the network prefix in bits, such as 24 for 10.0.0.1/24.
    public var prefixLength: Int

    /// Creates an address with its prefix length.
    public init(_ address: IPAddress, prefixLength: Int) {
      self.address = address
      self.prefixLength = prefixLength
    }
  }

  /// The interface's name, such as "eth0".
  public var name: String
  /// The interface's index, at least 1.
  public var index: UInt32
  /// The interface's addresses, IPv4 before IPv6, then in ascending order. Tentative addresses are
  /// omitted, since nothing can be sent from them (RFC 4862 §5.4).
  public var addresses: [Address] = []
  /// Whether the interface is administratively up.
  public var isUp = false
  /// Whether the interface has a carrier.
  public var isRunning = false
  /// The number of times that the carrier was gained or lost, or 0 if the system does not provide
  /// the number. A changed number shows that the link was down, however briefly.
  public var carrierChanges: UInt32 = 0
  /// The interface's MTU: the size of the largest packet, in bytes including the IP header, or 0 if
  /// unknown.
  public var largestPacket = 0
  /// Whether the interface reaches only this host.
  public var isLoopback = false
  /// Whether the interface supports multicast.
  public var supportsMulticast = false
  /// Whether the interface has exactly one peer, as a tunnel has.
  public var isPointToPoint = false

  /// Creates an interface without addresses.
  public init(name: String, index: UInt32) {
    self.name = name
    self.index = index
  }
}

extension Interface {
  /// Creates an interface from an entry read by the C code. Returns nil if the entry has no name,
  /// because an earlier entry describes the same interface.
  init?(_ entry: cuv_interface_entry) {
    var name = entry.name
    let text = unsafe withUnsafeBytes(of: &name) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    guard !text.isEmpty else { return nil }
    self.init(name: text, index: entry.index)
    carrierChanges = entry.carrier_changes
    largestPacket = Int(entry.largest_packet)
    let has = { (flag: Int) in entry.flags & UInt32(flag) != 0 }
    isUp = has(Int(CUV_INTERFACE_UP))
    isRunning = has(Int(CUV_INTERFACE_RUNNING))
    isLoopback = has(Int(CUV_INTERFACE_LOOPBACK))
    supportsMulticast = has(Int(CUV_INTERFACE_MULTICAST))
    isPointToPoint = has(Int(CUV_INTERFACE_POINT_TO_POINT))
  }
}
