import CaromCore

// The files that are sent to the peer.
extension Transfers {
  /// Offers a file to the peer. Throws `busy` if `TransferLimits.transfers` files are being sent.
  package mutating func offer(_ offer: FileOffer) throws(TransferFailure) -> TransferID {
    guard outgoing.count < TransferLimits.transfers else { throw .busy }
    let number = nextOutgoing
    nextOutgoing += 1
    outgoing[number] = OutgoingTransfer(offer)
    send(.offer(number, offer))
    return .outgoing(number)
  }

  /// Passes in the bytes that a `read` event asked for. Must be called in the order of the events.
  /// Does nothing if the transfer is over.
  package mutating func provide(_ bytes: [UInt8], for id: TransferID) {
    guard id.isOutgoing, var transfer = outgoing[id.number] else { return }
    transfer.provided += UInt64(bytes.count)
    precondition(transfer.provided <= transfer.requested, "bytes that were not asked for")
    transfer.ready.append(bytes)
    outgoing[id.number] = transfer
  }

  /// Returns the next event that asks the owner to read a file, or nil if enough bytes were read or
  /// no peer has given credit for more.
  mutating func nextRead() -> TransferEvent? {
    for _ in 0..<turns.count where readAhead < TransferLimits.readAheadBytes {
      guard let number = turns.popFirst() else { return nil }
      turns.append(number)
      guard let transfer = outgoing[number] else { continue }
      let count = transfer.nextReadLength
      guard count > 0 else { continue }
      outgoing[number]?.requested += UInt64(count)
      readAhead += count
      return .read(.outgoing(number), offset: transfer.requested, count: count)
    }
    return nil
  }

  /// Returns the next piece of a file, from each file in turn.
  mutating func nextPiece() -> [UInt8]? {
    guard unacknowledged < TransferLimits.unacknowledgedBytes else { return nil }
    for _ in 0..<turns.count {
      guard let number = turns.popFirst() else { return nil }
      turns.append(number)
      guard let offset = outgoing[number]?.sent, let bytes = outgoing[number]?.ready.popFirst()
      else { continue }
      outgoing[number]?.sent += UInt64(bytes.count)
      readAhead -= bytes.count
      let message = TransferPiece.encode(number, offset: offset, bytes)
      unacknowledged += message.count
      return message
    }
    return nil
  }

  mutating func removeOutgoing(_ number: UInt64) -> OutgoingTransfer? {
    guard let transfer = outgoing.removeValue(forKey: number) else { return nil }
    readAhead -= transfer.readAhead
    _ = turns.removeFirst { $0 == number }
    return transfer
  }

  /// Throws if the peer refers to a file that was never offered.
  func checkOutgoing(_ number: UInt64) throws(DecodeError) {
    guard number < nextOutgoing else { throw .invalid(what: "number of a transfer") }
  }

  mutating func receiveAcceptance(_ number: UInt64, _ offset: UInt64) throws(DecodeError) {
    try checkOutgoing(number)
    guard let transfer = outgoing[number] else { return }
    guard !transfer.isAccepted else { throw .invalid(what: "second acceptance") }
    guard offset <= transfer.offer.size else {
      throw .tooLarge(length: offset, limit: transfer.offer.size)
    }
    outgoing[number]?.accept(from: offset)
    turns.append(number)
    events.append(.accepted(.outgoing(number), offset: offset))
  }

  mutating func receiveCredit(
    _ number: UInt64, _ stored: UInt64, _ limit: UInt64
  ) throws(DecodeError) {
    try checkOutgoing(number)
    guard let transfer = outgoing[number] else { return }
    guard transfer.isAccepted, stored >= transfer.stored, stored <= transfer.sent,
      limit >= transfer.limit, limit - stored <= UInt64(CreditWindow.maximumSize)
    else { throw .invalid(what: "credit") }
    outgoing[number]?.stored = stored
    outgoing[number]?.limit = limit
    events.append(.stored(.outgoing(number), offset: stored))
  }

  mutating func receiveCompletion(_ number: UInt64) throws(DecodeError) {
    try checkOutgoing(number)
    guard let transfer = outgoing[number] else { return }
    guard transfer.isAccepted, transfer.sent == transfer.offer.size else {
      throw .invalid(what: "completion")
    }
    _ = removeOutgoing(number)
    events.append(.completed(.outgoing(number)))
  }
}
