/// How far the peers are with agreeing on the last input of a player who is gone.
struct DisconnectVote: Sendable {
  /// Ticks between two copies of a message that nobody answered, and the most copies.
  static let patience = 10
  static let copyLimit = 60

  /// Of each peer: whether its message came, whether it has ours, and whether a copy is due.
  var heard: [Bool]
  var told: [Bool]
  var isDue: [Bool]
  private var copies = 0
  private var age = 0

  init(peers: Int) {
    heard = Array(repeating: false, count: peers)
    told = heard
    isDue = Array(repeating: true, count: peers)
  }

  /// Nothing is to be said to that one, or heard of it.
  mutating func settle(_ peer: Int) {
    heard[peer] = true
    told[peer] = true
    isDue[peer] = false
  }

  /// A tick passed.
  mutating func tick() {
    age += 1
    guard age >= Self.patience, copies < Self.copyLimit else { return }
    age = 0
    copies += 1
    for peer in isDue.indices where !told[peer] { isDue[peer] = true }
  }
}
