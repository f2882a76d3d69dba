/// An IPv4 or IPv6 address. A link-local IPv6 address includes its scope.
public enum IPAddress: Hashable, Sendable {
  /// An IPv4 address whose first byte is the most significant: 127.0.0.1 is `0x7F00_0001`.
  case v4(UInt32)
  /// An IPv6 address in two halves, and its scope (RFC 4007 §11): the interface index for a
  /// link-local or multicast address, otherwise 0.
  case v6(high: UInt64, low: UInt64, scope: UInt32)

  /// The IPv4 loopback address, 127.0.0.1.
  public static let loopback4 = IPAddress.v4(0x7F00_0001)
  /// The IPv6 loopback address, ::1.
  public static let loopback6 = IPAddress.v6(high: 0, low: 1, scope: 0)
  /// The IPv4 wildcard address, 0.0.0.0, which binds a socket to all addresses of the host.
  public static let any4 = IPAddress.v4(0)
  /// The IPv6 wildcard address, ::, which binds a socket to all addresses of the host.
  public static let any6 = IPAddress.v6(high: 0, low: 0, scope: 0)

  /// Whether this is an IPv6 address.
  public var isV6: Bool { if case .v6 = self { true } else { false } }

  /// Whether this is a multicast address: 224.0.0.0/4 or ff00::/8.
  public var isMulticast: Bool {
    switch self {
    case .v4(let value): value >> 28 == 0xE
    case .v6(let high, _, _): high >> 56 == 0xFF
    }
  }

  /// Whether this is a link-local address: 169.254.0.0/16 (RFC 3927) or fe80::/10
  /// (RFC 4291 §2.5.6).
  public var isLinkLocal: Bool {
    switch self {
    case .v4(let value): value >> 16 == 0xA9FE
    case .v6(let high, _, _): high >> 54 == 0x3FA
    }
  }

  /// Whether this is a loopback address: 127.0.0.0/8 or ::1.
  public var isLoopback: Bool {
    switch self {
    case .v4(let value): value >> 24 == 127
    case .v6(let high, let low, _): high == 0 && low == 1
    }
  }

  /// The 4 or 16 bytes of the address in network byte order, without the scope.
  public var bytes: [UInt8] {
    var writer = PacketWriter(capacity: 16)
    switch self {
    case .v4(let value): writer.writeBigEndian(value)
    case .v6(let high, let low, _):
      writer.writeBigEndian(high)
      writer.writeBigEndian(low)
    }
    return writer.bytes
  }

  /// Creates an address from 4 or 16 bytes in network byte order. Returns nil for any other number
  /// of bytes.
  public init?(bytes: [UInt8], scope: UInt32 = 0) {
    var reader = PacketReader(bytes.span)
    switch bytes.count {
    case 4:
      guard let value = try? reader.readBigEndian(UInt32.self) else { return nil }
      self = .v4(value)
    case 16:
      guard let high = try? reader.readBigEndian(UInt64.self),
        let low = try? reader.readBigEndian(UInt64.self)
      else { return nil }
      self = .v6(high: high, low: low, scope: scope)
    default: return nil
    }
  }

  /// Returns the same address with `interface` as its scope, if it is a link-local or multicast
  /// IPv6 address; any other address is returned unchanged.
  public func scoped(to interface: UInt32) -> IPAddress {
    guard case .v6(let high, let low, _) = self, isLinkLocal || isMulticast else { return self }
    return .v6(high: high, low: low, scope: interface)
  }
}

extension IPAddress: Comparable {
  /// Orders IPv4 addresses before IPv6 addresses, and addresses of the same version by value.
  public static func < (a: IPAddress, b: IPAddress) -> Bool {
    switch (a, b) {
    case (.v4(let a), .v4(let b)): a < b
    case (.v4, .v6): true
    case (.v6, .v4): false
    case (.v6(let a, let b, let c), .v6(let x, let y, let z)): (a, b, c) < (x, y, z)
    }
  }
}
