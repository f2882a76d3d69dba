import CaromCore

/// A file that is offered or being sent.
struct OutgoingTransfer: Sendable {
  let offer: FileOffer
  /// Whether the peer has accepted the file.
  var isAccepted = false
  /// The offset up to which the peer accepts bytes.
  var limit: UInt64 = 0
  /// The offset up to which the peer has stored the file.
  var stored: UInt64 = 0
  /// The offset up to which the owner was asked to read the file.
  var requested: UInt64 = 0
  /// The offset up to which the owner has provided the file.
  var provided: UInt64 = 0
  /// The offset up to which the file was sent.
  var sent: UInt64 = 0
  /// The pieces that were read and not sent yet, in order.
  var ready = Deque<[UInt8]>()

  init(_ offer: FileOffer) { self.offer = offer }

  mutating func accept(from offset: UInt64) {
    isAccepted = true
    (stored, requested, provided, sent) = (offset, offset, offset, offset)
    limit = offset + UInt64(CreditWindow.initialSize)
  }

  /// The number of bytes that the owner should read next, or 0 if it should not read now.
  ///
  /// A piece is shorter than `TransferPiece.sentLength` only at the end of the file, except if
  /// the peer gives less credit.
  var nextReadLength: Int {
    guard isAccepted else { return 0 }
    let end = min(offer.size, limit)
    return end > requested ? Int(min(end - requested, UInt64(TransferPiece.sentLength))) : 0
  }

  /// The number of bytes that were requested and have not been sent.
  var readAhead: Int { Int(requested - sent) }
}
