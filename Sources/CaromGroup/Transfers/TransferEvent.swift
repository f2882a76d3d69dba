/// What `Transfers` reports to its owner.
package enum TransferEvent: Hashable, Sendable {
  /// The peer offers a file. The owner answers with `accept` or `refuse`.
  case offered(TransferID, FileOffer)
  /// The peer wants the file from `offset` on.
  case accepted(TransferID, offset: UInt64)
  /// The owner has to read `count` bytes of the file at `offset`, and pass them to `provide`.
  case read(TransferID, offset: UInt64, count: Int)
  /// The peer has stored the file up to `offset`.
  case stored(TransferID, offset: UInt64)
  /// Bytes of a file have arrived. The owner stores them and calls `didStore`.
  case received(TransferID, offset: UInt64, [UInt8])
  /// The peer has stored the whole file and verified its hash. The transfer is over.
  case completed(TransferID)
  /// The other side has ended the transfer, or refused it.
  case failed(TransferID, TransferFailure)
}
