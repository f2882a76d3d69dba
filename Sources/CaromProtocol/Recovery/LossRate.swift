/// The fraction of recent packets that were lost, as a moving average.
struct LossRate: Sendable {
  /// The number of packets after which all counts are halved, so that older packets matter less.
  private let memory: Float
  private var lost: Float = 0
  private var total: Float = 0

  init(memory: Double) { self.memory = Float(memory) }

  /// The loss rate, 0 to 1; 0 until eight packets have been counted.
  var value: Double {
    // Most paths lose nothing, and a division takes as long as many other instructions.
    lost == 0 || total < 8 ? 0 : min(max(Double(lost) / Double(total), 0), 1)
  }
  /// The number of packets on which the loss rate is based.
  var weight: Double { Double(total) }

  mutating func add(isLost: Bool) {
    total += 1
    if isLost { lost += 1 }
    guard total >= memory else { return }
    total /= 2
    lost /= 2
  }

  /// Undoes one recorded loss, because the packet was acknowledged after all.
  mutating func undoLoss() { lost = max(0, lost - 1) }
}
