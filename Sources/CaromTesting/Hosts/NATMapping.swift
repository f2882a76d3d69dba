import CaromCore

/// The port mappings of a NAT in front of the sender of a link.
///
/// Before the first rebinding, the external and internal ports are equal.
struct NATMapping: Sendable {
  private struct Mapping: Sendable {
    let port: UInt16
    let epoch: Int
  }

  private var externalPorts: [UInt16: Mapping] = [:]
  private var internalPorts: [UInt16: Mapping] = [:]

  /// The number of rebindings so far that have changed the source port, and the number that have
  /// changed the source address. Mappings of earlier epochs are invalid.
  struct Epoch: Hashable, Sendable {
    var port = 0
    var address = 0
  }

  /// Returns the external port to which an internal port is mapped. An internal port without a
  /// mapping in this epoch is mapped to a port that `allocate` returns.
  mutating func externalPort(
    of port: UInt16, epoch: Int, allocate: () -> UInt16
  ) -> UInt16 {
    if epoch == 0 { return port }
    if let mapping = externalPorts[port], mapping.epoch == epoch { return mapping.port }
    let external = allocate()
    externalPorts[port] = Mapping(port: external, epoch: epoch)
    internalPorts[external] = Mapping(port: port, epoch: epoch)
    return external
  }

  /// Returns the internal port to which an external port is mapped, or nil if there is no such
  /// mapping in this epoch.
  func internalPort(of port: UInt16, epoch: Int) -> UInt16? {
    if epoch == 0 { return port }
    guard let mapping = internalPorts[port], mapping.epoch == epoch else { return nil }
    return mapping.port
  }
}

extension VirtualHost.Interface {
  /// Returns the external address after `epoch` rebindings of the address. It is in 100.64.0.0/10
  /// (RFC 6598) or fd00::/8. Before the first rebinding, it is the address itself.
  func externalAddress(of address: IPAddress, epoch: Int) -> IPAddress {
    guard epoch > 0, !address.isLoopback else { return address }
    switch address {
    case .v4(let value):
      return .v4(Self.externalPrefix | UInt32(epoch & 63) << 16 | value & 0xFFFF)
    case .v6(_, let low, _):
      return .v6(high: 0xFD00 << 48 | UInt64(epoch), low: low & 0xFFFF, scope: 0)
    }
  }

  private static let externalPrefix: UInt32 = 100 << 24 | 64 << 16
}

extension IPAddress {
  /// Whether this is an external address, assigned by a NAT.
  var isExternal: Bool {
    switch self {
    case .v4(let value): value >> 22 == 0b01_1001_0001  // 100.64.0.0/10
    case .v6(let high, _, _): high >> 56 == 0xFD
    }
  }
}
