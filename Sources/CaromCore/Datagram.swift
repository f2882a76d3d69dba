/// One datagram and what the system knows of its way.
public struct Datagram: Hashable, Sendable {
  /// The bytes that it carries.
  public var payload: [UInt8]
  /// Who sent it.
  public var source: Endpoint
  /// Whom it was sent to: a group's address where it was multicast.
  public var destination: Endpoint
  /// The index of the interface that it came in by, or is to leave by; 0 where unknown.
  public var interface: UInt32
  /// IPv4 time to live or IPv6 hop limit as it arrived; `nil` where unknown.
  public var hopLimit: UInt8?

  /// A datagram with all that is known of it.
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
