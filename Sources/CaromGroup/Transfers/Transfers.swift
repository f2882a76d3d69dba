import CaromCore

/// The file transfers over one connection, in both directions.
///
/// The machine knows neither files nor sockets. Its owner passes in what arrives on the two
/// channels, reads and writes files when events say so, and gives what `pollTransmit` returns to
/// the session. Both channels must be reliable and ordered. Nothing that a peer sends makes the
/// machine keep more than `TransferLimits` and the credit of the accepted files allow.
///
/// Poll in this order after every call: `pollEvent` until it returns nil, carrying the events out,
/// and then `pollTransmit` until it returns nil.
package struct Transfers: Sendable {
  /// A message for the peer.
  package enum Transmit: Hashable, Sendable {
    /// A message on the control channel.
    case control([UInt8])
    /// A message on the data channel. Once the peer's session has acknowledged it, the owner calls
    /// `didDeliver` with the length of the message.
    case data([UInt8])
  }

  var outgoing: [UInt64: OutgoingTransfer] = [:]
  var incoming: [UInt64: IncomingTransfer] = [:]
  /// The numbers of the outgoing transfers that were accepted, in the order in which they have
  /// their turns.
  var turns = Deque<UInt64>()
  var nextOutgoing: UInt64 = 0
  /// The number of offers that the peer has made.
  var nextIncoming: UInt64 = 0
  var readAhead = 0
  var unacknowledged = 0
  var creditRoom = TransferLimits.creditGrowth
  var events = Deque<TransferEvent>()
  /// The incoming transfers whose credit has to be sent.
  var owingCredit = Deque<UInt64>()
  private var messages = Deque<TransferMessage>()

  package init() {}

  /// Ends all transfers, because the connection has ended.
  package mutating func disconnect() {
    let sending = outgoing.keys.sorted().map(TransferID.outgoing)
    let receiving = incoming.keys.sorted().map(TransferID.incoming)
    self = Transfers()
    for id in sending + receiving { events.append(.failed(id, .disconnected)) }
  }

  /// Ends a transfer in either direction and tells the peer the reason. Does nothing if the
  /// transfer is over already.
  package mutating func cancel(_ id: TransferID, _ failure: TransferFailure = .cancelled) {
    if id.isOutgoing {
      guard removeOutgoing(id.number) != nil else { return }
      send(.withdraw(id.number, failure))
    } else {
      guard removeIncoming(id.number) != nil else { return }
      send(.stop(id.number, failure))
    }
  }

  mutating func send(_ message: TransferMessage) { messages.append(message) }

  /// Returns the next event, or nil if there is none.
  package mutating func pollEvent() -> TransferEvent? {
    if let event = events.popFirst() { return event }
    return nextRead()
  }

  /// Returns the next message for the peer, or nil if there is none or the session has enough to
  /// send.
  package mutating func pollTransmit() -> Transmit? {
    if let message = messages.popFirst() { return .control(message.encoded) }
    if let credit = nextCredit() { return .control(credit.encoded) }
    return nextPiece().map(Transmit.data)
  }

  /// Records that the peer's session has acknowledged a message of `length` bytes on the data
  /// channel.
  package mutating func didDeliver(_ length: Int) {
    unacknowledged -= length
    precondition(unacknowledged >= 0, "a message is acknowledged once")
  }
}

// MARK: - What arrives
extension Transfers {
  /// Handles a message on the control channel. If it throws, the peer has violated the protocol,
  /// and its connection must be closed.
  package mutating func handleControl(_ bytes: Span<UInt8>) throws(DecodeError) {
    guard messages.count < TransferLimits.waitingMessages else {
      throw .tooLarge(
        length: UInt64(messages.count), limit: UInt64(TransferLimits.waitingMessages))
    }
    switch try TransferMessage(decoding: bytes) {
    case .offer(let number, let offer):
      try register(number)
      receiveOffer(number, offer)
    case .invalidOffer(let number):
      try register(number)
      send(.stop(number, .invalidName))
    case .accept(let number, let offset): try receiveAcceptance(number, offset)
    case .credit(let number, let stored, let limit): try receiveCredit(number, stored, limit)
    case .complete(let number): try receiveCompletion(number)
    case .stop(let number, let failure):
      try checkOutgoing(number)
      guard removeOutgoing(number) != nil else { return }
      events.append(.failed(.outgoing(number), failure))
    case .withdraw(let number, let failure):
      guard number < nextIncoming else { throw .invalid(what: "number of a transfer") }
      guard removeIncoming(number) != nil else { return }
      events.append(.failed(.incoming(number), failure))
    }
  }
}
