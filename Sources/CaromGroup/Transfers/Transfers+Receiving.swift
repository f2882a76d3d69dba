import CaromCore

// The files that the peer sends.
extension Transfers {
  /// Counts an offer of the peer. Throws if its number is not the next one, or if the peer has
  /// offered too many files.
  mutating func register(_ number: UInt64) throws(DecodeError) {
    guard number == nextIncoming else { throw .invalid(what: "number of an offer") }
    guard incoming.count < TransferLimits.transfers else {
      throw .tooLarge(
        length: UInt64(incoming.count + 1), limit: UInt64(TransferLimits.transfers))
    }
    nextIncoming += 1
  }

  mutating func receiveOffer(_ number: UInt64, _ offer: FileOffer) {
    incoming[number] = IncomingTransfer(offer)
    events.append(.offered(.incoming(number), offer))
  }

  /// Whether an offered file has not been withdrawn.
  package func isOffered(_ id: TransferID) -> Bool {
    !id.isOutgoing && incoming[id.number] != nil
  }

  /// Accepts an offered file from `offset` on; the bytes before it were received earlier. Does
  /// nothing if the sender has withdrawn the file.
  ///
  /// If `offset` is the size of the file, no bytes follow: the owner verifies the hash at once.
  package mutating func accept(_ id: TransferID, from offset: UInt64 = 0) {
    guard !id.isOutgoing, let transfer = incoming[id.number] else { return }
    precondition(transfer.credit == nil, "a file is accepted once")
    precondition(offset <= transfer.offer.size, "a file is accepted from an offset in it")
    incoming[id.number]?.accept(from: offset)
    send(.accept(id.number, offset: offset))
  }

  /// Refuses an offered file. Does nothing if the sender has withdrawn it.
  package mutating func refuse(_ id: TransferID, _ failure: TransferFailure = .declined) {
    cancel(id, failure)
  }

  /// Handles a message on the data channel. If it throws, the peer has violated the protocol, and
  /// its connection must be closed.
  package mutating func handleData(_ message: Span<UInt8>) throws(DecodeError) {
    var (number, offset) = (UInt64(0), UInt64(0))
    let bytes = try TransferPiece.decode(message, number: &number, offset: &offset)
    guard number < nextIncoming else { throw .invalid(what: "number of a transfer") }
    // Pieces of a transfer that was stopped may still be on the way.
    guard incoming[number] != nil else { return }
    try incoming[number]?.receive(bytes.count, at: offset)
    events.append(.received(.incoming(number), offset: offset, Array(copying: bytes)))
  }

  /// Records that the owner has stored the file up to `offset`, which gives the sender new credit.
  package mutating func didStore(_ id: TransferID, upTo offset: UInt64, at now: Instant) {
    guard !id.isOutgoing, var transfer = incoming[id.number], var credit = transfer.credit else {
      return
    }
    precondition(offset <= transfer.received, "only bytes that have arrived are stored")
    let isDue = credit.consume(
      upTo: offset, received: transfer.received, room: &creditRoom, at: now)
    if isDue, !transfer.owesCredit {
      transfer.owesCredit = true
      owingCredit.append(id.number)
    }
    transfer.credit = credit
    incoming[id.number] = transfer
  }

  /// Records that the whole file is stored and has the hash that was offered. The transfer is over.
  package mutating func complete(_ id: TransferID) {
    guard !id.isOutgoing, let transfer = removeIncoming(id.number) else { return }
    precondition(transfer.received == transfer.offer.size, "a file is complete once it is whole")
    send(.complete(id.number))
  }

  mutating func removeIncoming(_ number: UInt64) -> IncomingTransfer? {
    guard let transfer = incoming.removeValue(forKey: number) else { return nil }
    creditRoom += transfer.credit?.growth ?? 0
    if transfer.owesCredit { _ = owingCredit.removeFirst { $0 == number } }
    return transfer
  }

  /// Returns the next credit to send, or nil if none is due.
  mutating func nextCredit() -> TransferMessage? {
    guard let number = owingCredit.popFirst() else { return nil }
    incoming[number]?.owesCredit = false
    guard let credit = incoming[number]?.credit else { return nil }
    return .credit(number, stored: credit.consumed, limit: credit.limit)
  }
}
