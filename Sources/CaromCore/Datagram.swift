/// A UDP datagram with the addressing information that the system reports for it.
public struct Datagram: Hashable, Sendable {
  /// The bytes after the UDP header.
  public var payload: [UInt8]
  /// The sender's endpoint.
  public var source: Endpoint
  /// The endpoint to which the datagram was sent. For a multicast datagram, its address is that of
  /// the group.
  public var destination: Endpoint
  /// The index of the interface that received the datagram or is to send it, or 0 if unknown.
  public var interface: UInt32
  /// The IPv4 time to live or IPv6 hop limit with which the datagram arrived, or nil if unknown.
  public var hopLimit: UInt8?

  /// Creates a datagram from its payload and addressing information.
  public init(
    _ payload: [UInt8], from source: Endpoint, to destination: Endpoint, interface: UInt32 = 0,
    hopLimit: UInt8? = nil
  ) {
    self.payload = payload
    self.source = source
    self.destination = destination
    self.interface = interface
    self.hopLimit = hopLimit
  }
}
