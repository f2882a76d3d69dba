/// The agreement among the remaining peers on the last input of a disconnected player.
struct DisconnectVote: Sendable {
  /// The number of ticks after which an unacknowledged message is sent again, and the maximum
  /// number of times it is sent.
  static let resendInterval = 10
  static let copyLimit = 60

  /// For each peer: whether its message has arrived, whether it has acknowledged the local message,
  /// and whether a message to it is due.
  var received: [Bool]
  var delivered: [Bool]
  var isDue: [Bool]
  private var copies = 0
  private var age = 0

  init(peers: Int) {
    received = Array(repeating: false, count: peers)
    delivered = received
    isDue = Array(repeating: true, count: peers)
  }

  /// Leaves a peer out of the vote: no message is sent to it or expected from it.
  mutating func exclude(_ peer: Int) {
    received[peer] = true
    delivered[peer] = true
    isDue[peer] = false
  }

  /// Advances the resend timer by one tick.
  mutating func tick() {
    age += 1
    guard age >= Self.resendInterval, copies < Self.copyLimit else { return }
    age = 0
    copies += 1
    for peer in isDue.indices where !delivered[peer] { isDue[peer] = true }
  }
}
