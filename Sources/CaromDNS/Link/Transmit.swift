import CaromCore

/// A packet that a machine wants sent.
package struct Transmit: Hashable, Sendable {
  /// The message's bytes.
  package var payload: [UInt8]
  /// A group or one asker.
  package var destination: Endpoint
  /// The index of the interface that it leaves by.
  package var interface: UInt32
}
