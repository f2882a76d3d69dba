import CaromCore

/// A file that the peer offers or sends.
struct IncomingTransfer: Sendable {
  let offer: FileOffer
  /// The credit of the file; nil until the owner accepts the file.
  var credit: CreditWindow?
  /// The offset up to which the file has arrived.
  var received: UInt64 = 0
  /// Whether the credit has to be sent.
  var owesCredit = false

  init(_ offer: FileOffer) { self.offer = offer }

  mutating func accept(from offset: UInt64) {
    received = offset
    credit = CreditWindow(from: offset)
  }

  /// Counts a piece that has arrived. Throws if it does not follow the previous one, or if it
  /// exceeds the file or the credit.
  mutating func receive(_ count: Int, at offset: UInt64) throws(DecodeError) {
    guard let credit else { throw .invalid(what: "piece of a file that was not accepted") }
    guard offset == received else { throw .invalid(what: "offset of a piece") }
    let end = offset + UInt64(count)
    let limit = min(credit.limit, offer.size)
    guard end <= limit else { throw .tooLarge(length: end, limit: limit) }
    received = end
  }
}
