/// The bytes that a session adds to the messages of a game at 60 Hz: header, frame and
/// acknowledgements. Two protocol machines on virtual time exchange the messages without loss.
struct SnapshotSession {
  /// The mean number of added bytes.
  private(set) var mean = 0.0
  /// The 95th percentile of the added bytes.
  private(set) var most = 0.0

  init() {
    var pair = SessionPair()
    pair.exchangeUntilIdle()
    let message: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
    var sizes: [Double] = []
    for tick in 0..<1_200 {
      pair.advance(by: .nanoseconds(16_666_667))
      pair.send(message, from: .initiator, .unreliable)
      pair.deliverPending(from: .initiator)
      let before = pair.datagrams
      pair.send(message, from: .responder, .unreliable)
      let bytes = pair.deliverPending(from: .responder)
      guard tick > 120, pair.datagrams == before + 1 else { continue }
      sizes.append(Double(bytes - message.count))
    }
    // Probes for longer datagrams are not part of a message's cost.
    sizes.removeAll { $0 > 64 }
    mean = sizes.reduce(0, +) / Double(max(sizes.count, 1))
    most = sizes.percentile(95)
  }
}
