import CUVLoop
import CaromCore

/// A network interface of this host and its addresses.
public struct Interface: Hashable, Sendable {
  /// An address and the length of its network's prefix.
  public struct Address: Hashable, Sendable {
    /// The host's address; a link-local IPv6 one has the interface's index as its scope.
    public var address: IPAddress
    /// Bits of the network's prefix: 24 of 10.0.0.1/24.
    public var prefixLength: Int

    /// An address in the network of that prefix.
    public init(_ address: IPAddress, prefixLength: Int) {
      self.address = address
      self.prefixLength = prefixLength
    }
  }

  /// The system's name: "eth0".
  public var name: String
  /// The system's number, 1 or more.
  public var index: UInt32
  /// IPv4 before IPv6, then by value; without those that the system still checks for being
  /// unique (RFC 4862 §5.4), since nothing can be sent from them.
  public var addresses: [Address] = []
  /// The administrator turned it on.
  public var isUp = false
  /// It has a carrier.
  public var isRunning = false
  /// How often the carrier came or went: another number means that the cable was out, however
  /// short. 0 where the system does not say.
  public var carrierChanges: UInt32 = 0
  /// Bytes of the largest packet that it carries whole, with all headers but its own; 0 where
  /// the system does not say.
  public var largestPacket = 0
  /// It reaches this host alone.
  public var isLoopback = false
  /// It can carry multicast.
  public var supportsMulticast = false
  /// It has one peer, such as a tunnel's.
  public var isPointToPoint = false

  /// An interface without addresses.
  public init(name: String, index: UInt32) {
    self.name = name
    self.index = index
  }
}

extension Interface {
  /// What an entry says; `nil` where it belongs to an interface that an earlier one describes.
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
