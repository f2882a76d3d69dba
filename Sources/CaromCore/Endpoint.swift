/// A transport address: an IP address and a port.
public struct Endpoint: Hashable, Sendable {
  /// The IP address.
  public var address: IPAddress
  /// The port, 0 to 65535. Binding a socket to port 0 lets the system choose a free port.
  public var port: UInt16

  /// Creates an endpoint from an address and a port.
  public init(_ address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }
}

extension Endpoint: CustomStringConvertible {
  /// The text form, such as "10.0.0.1:7777" or "[fe80::1%2]:7777".
  public var description: String {
    address.isV6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }
}

extension Endpoint: Comparable {
  /// Orders endpoints by address, then by port.
  public static func < (a: Endpoint, b: Endpoint) -> Bool {
    (a.address, a.port) < (b.address, b.port)
  }
}
