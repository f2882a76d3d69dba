import CaromCore

/// A datagram to send.
package struct Transmit: Hashable, Sendable {
  /// The encoded DNS message.
  package var payload: [UInt8]
  /// A multicast group, or the host that asked for a unicast response.
  package var destination: Endpoint
  /// The index of the interface to send on.
  package var interface: UInt32
}
