/// An address and a port: one end of a link.
public struct Endpoint: Hashable, Sendable {
  /// The host's address.
  public var address: IPAddress
  /// The port, 0 to 65535; 0 asks the system to choose when a socket is bound.
  public var port: UInt16

  /// The end at `address` and `port`.
  public init(_ address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }
}

extension Endpoint: CustomStringConvertible {
  /// "10.0.0.1:7777" or "[fe80::1%2]:7777".
  public var description: String {
    address.isV6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }
}

extension Endpoint: Comparable {
  /// By address, then by port.
  public static func < (a: Endpoint, b: Endpoint) -> Bool {
    (a.address, a.port) < (b.address, b.port)
  }
}
