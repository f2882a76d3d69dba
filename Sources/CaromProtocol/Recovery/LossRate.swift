/// The share of packets that were lost of late.
struct LossRate: Sendable {
  /// Packets after which the past counts half.
  private let memory: Double
  private var lost = 0.0
  private var total = 0.0

  init(memory: Double) { self.memory = memory }

  /// 0 to 1; nothing counts as lost before a few packets were heard of.
  var value: Double { total < 8 ? 0 : min(max(lost / total, 0), 1) }
  /// How many packets speak for the value.
  var weight: Double { total }

  mutating func add(isLost: Bool) {
    total += 1
    if isLost { lost += 1 }
    guard total >= memory else { return }
    total /= 2
    lost /= 2
  }

  /// One that was counted as lost came after all.
  mutating func takeBack() { lost = max(0, lost - 1) }
}
