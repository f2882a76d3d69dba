import CaromCore

/// What a translator (NAT) between two machines remembers of the sender's ports.
struct NATMapping: Sendable {
  private struct Mapping: Sendable {
    let port: UInt16
    let epoch: Int
  }

  private var outside: [UInt16: Mapping] = [:]
  private var inside: [UInt16: Mapping] = [:]

  /// How often each part of the sender's source has changed.
  struct Epoch: Hashable, Sendable {
    var port = 0
    var address = 0
  }

  /// The port that others see; `free` names a new one where there is none of this epoch.
  mutating func outsidePort(
    of port: UInt16, epoch: Int, free: () -> UInt16
  ) -> UInt16 {
    if epoch == 0 { return port }
    if let mapping = outside[port], mapping.epoch == epoch { return mapping.port }
    let fresh = free()
    outside[port] = Mapping(port: fresh, epoch: epoch)
    inside[fresh] = Mapping(port: port, epoch: epoch)
    return fresh
  }

  /// The port that a datagram to `port` is for; `nil` where nothing leads there any more.
  func insidePort(of port: UInt16, epoch: Int) -> UInt16? {
    if epoch == 0 { return port }
    guard let mapping = inside[port], mapping.epoch == epoch else { return nil }
    return mapping.port
  }
}

extension VirtualHost.Interface {
  /// The address that others see after so many changes: 100.64.0.0/10 (RFC 6598) or fd00::/8.
  func outside(_ address: IPAddress, epoch: Int) -> IPAddress {
    guard epoch > 0, !address.isLoopback else { return address }
    switch address {
    case .v4(let value):
      return .v4(Self.outsideV4 | UInt32(epoch & 63) << 16 | value & 0xFFFF)
    case .v6(_, let low, _):
      return .v6(high: 0xFD00 << 48 | UInt64(epoch), low: low & 0xFFFF, scope: 0)
    }
  }

  private static let outsideV4: UInt32 = 100 << 24 | 64 << 16
}

extension IPAddress {
  /// Whether it is one that a translator gives a machine.
  var isOutside: Bool {
    switch self {
    case .v4(let value): value >> 22 == 0b01_1001_0001  // 100.64.0.0/10
    case .v6(let high, _, _): high >> 56 == 0xFD
    }
  }
}
