/// The vote by which the remaining peers agree on the last input of a player who has stopped
/// responding.
struct DisconnectVote: Sendable {
  /// The number of ticks after which an unacknowledged message is retransmitted.
  static let resendInterval = 10
  /// The maximum number of retransmissions of a message.
  static let copyLimit = 60

  /// Whether each peer's message has arrived, indexed by peer.
  var received: [Bool]
  /// Whether each peer has acknowledged the local message, indexed by peer.
  var delivered: [Bool]
  /// Whether the local message must now be sent to each peer, indexed by peer.
  var isDue: [Bool]
  private var copies = 0
  private var age = 0

  init(peers: Int) {
    received = Array(repeating: false, count: peers)
    delivered = received
    isDue = Array(repeating: true, count: peers)
  }

  /// Creates a vote on whose result all peers agreed before this peer joined them.
  init(finishedWith peers: Int) {
    self.init(peers: peers)
    for peer in 0..<peers { exclude(peer) }
  }

  /// Excludes a peer from the vote: no message is sent to it or expected from it.
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
