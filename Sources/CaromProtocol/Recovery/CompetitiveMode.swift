/// What may be under way beside a flow that fills the queue whatever others do: it grows as that
/// flow's window does (CUBIC, RFC 9438), so that both get about the same. Bytes and nanoseconds.
struct CompetitiveMode: Sendable {
  /// What remains of it after a loss (RFC 9438 §4.6).
  static let reduction = 0.7
  /// How fast it grows, packets per second cubed (RFC 9438 §4.1).
  private static let growth = 0.4
  /// What it grows by in a round trip at least, packets: as much as Reno with that reduction.
  private static let renoGrowth = 0.53

  /// What it grows by in a round trip before anything was lost.
  private static let newcomersGrowth = 0.1

  /// Bytes that may be under way.
  private(set) var bytes: Double
  /// What it was when something was lost, packets.
  private var plateau: Double
  private var epoch: Int64
  /// Seconds from the epoch to the plateau.
  private var rise: Double
  private var start: Double
  /// Nothing was lost yet: who is new does not know its share.
  private var isNew = true

  init(bytes: Double, packetSize: Int, at now: Int64) {
    self.bytes = bytes
    plateau = bytes / Double(packetSize)
    epoch = now
    rise = 0
    start = plateau
  }

  mutating func grow(acknowledged: Int, roundTrip: Int64, packetSize: Int, at now: Int64) {
    if isNew { return bytes += Self.newcomersGrowth * Double(acknowledged) }
    let age = Double(now - epoch + roundTrip) / 1e9
    let time = age - rise
    let cubic = plateau + Self.growth * time * time * time
    let reno = start + Self.renoGrowth * age * 1e9 / Double(max(roundTrip, 1))
    let wanted = max(cubic, reno) * Double(packetSize)
    guard wanted > bytes else { return }
    bytes += (min(wanted, 1.5 * bytes) - bytes) * Double(acknowledged) / bytes
  }

  mutating func reduce(packetSize: Int, at now: Int64) {
    isNew = false
    let packets = bytes / Double(packetSize)
    plateau = packets < plateau ? packets * (1 + Self.reduction) / 2 : packets
    start = packets * Self.reduction
    bytes = max(bytes * Self.reduction, Double(2 * packetSize))
    epoch = now
    rise = Self.cubeRoot((plateau - start) / Self.growth)
  }

  /// Newton's method: the pure modules have no mathematical library.
  private static func cubeRoot(_ value: Double) -> Double {
    guard value > 0 else { return 0 }
    var root = max(1, value)
    for _ in 0..<64 { root = (2 * root + value / (root * root)) / 3 }
    return root
  }
}
