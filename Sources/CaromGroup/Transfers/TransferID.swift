/// Identifies a transfer on one connection.
package struct TransferID: Hashable, Sendable {
  /// Whether the file is sent to the peer, rather than received from it.
  package let isOutgoing: Bool
  /// The transfer's number, which its sender has chosen.
  package let number: UInt64

  package static func outgoing(_ number: UInt64) -> TransferID {
    TransferID(isOutgoing: true, number: number)
  }

  package static func incoming(_ number: UInt64) -> TransferID {
    TransferID(isOutgoing: false, number: number)
  }
}
