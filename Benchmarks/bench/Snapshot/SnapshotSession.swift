/// What a session puts around the messages of a game at 60 Hz: its header, the frame, and its own
/// acknowledgements. Two machines count it, on virtual time; nothing is lost.
struct SnapshotSession {
  /// Bytes around a message, on average.
  private(set) var mean = 0.0
  /// And of 95 in 100 datagrams at most.
  private(set) var most = 0.0

  init() {
    var pair = SessionPair()
    pair.settle()
    let message: [UInt8] = [1, 2, 3, 4, 5, 6, 7]
    var sizes: [Double] = []
    for tick in 0..<1_200 {
      pair.advance(by: .nanoseconds(16_666_667))
      pair.send(message, from: .initiator, .unreliable)
      pair.pass(from: .initiator)
      let before = pair.datagrams
      pair.send(message, from: .responder, .unreliable)
      let bytes = pair.pass(from: .responder)
      guard tick > 120, pair.datagrams == before + 1 else { continue }
      sizes.append(Double(bytes - message.count))
    }
    // A probe for longer datagrams now and then is not a message's.
    sizes.removeAll { $0 > 64 }
    mean = sizes.reduce(0, +) / Double(max(sizes.count, 1))
    most = sizes.percentile(95)
  }
}
