/// Compares the state hashes that one peer sends with the local hashes, and drives the exchange of
/// state reports once two hashes differ. Only confirmed ticks are compared, so a misprediction is
/// never mistaken for a desync.
struct DesyncDetector: Sendable {
  /// The number of peer hashes that can be stored until their tick is confirmed locally.
  static let waitingLimit = 128
  /// The number of ticks after which an unanswered report is retransmitted.
  static let resendInterval = 15
  /// The maximum number of times that a report is sent without an answer.
  static let copyLimit = 16

  enum State: Hashable, Sendable {
    case equal
    /// The hashes of this tick differ, and the peer's report has not arrived yet.
    case found(Tick)
    case named
  }

  private(set) var state = State.equal
  /// The number of pairs of hashes compared so far.
  private(set) var compared = 0
  /// The tick whose state is reported, or nil before the first difference.
  private(set) var reported: Tick?
  /// Whether a report must be sent now.
  var isReportDue = false
  private var waiting: [(tick: Tick, hash: UInt32)?] = []
  private var hasPeerReport = false
  private var isReportDelivered = false
  private var copies = 0
  private var age = 0

  init() { waiting = Array(repeating: nil, count: Self.waitingLimit) }

  /// Records the peer's hash of `tick`. `local` is the local hash, or nil if `tick` is not
  /// confirmed yet; the peer's hash is then stored.
  mutating func record(_ hash: UInt32, at tick: Tick, local: UInt64?) {
    guard state == .equal else { return }
    guard let local else {
      waiting[Int(tick.rawValue % UInt64(Self.waitingLimit))] = (tick, hash)
      return
    }
    compare(hash, local, at: tick)
  }

  /// Compares the hash of a newly confirmed tick with the peer's hash, if that has arrived.
  mutating func confirm(_ tick: Tick, hash: UInt64) {
    guard state == .equal else { return }
    let slot = Int(tick.rawValue % UInt64(Self.waitingLimit))
    guard let other = waiting[slot], other.tick == tick else { return }
    waiting[slot] = nil
    compare(other.hash, hash, at: tick)
  }

  private mutating func compare(_ theirs: UInt32, _ local: UInt64, at tick: Tick) {
    compared += 1
    if theirs != UInt32(truncatingIfNeeded: local) { begin(at: tick) }
  }

  /// Starts reporting `tick`, the earliest tick known to differ.
  mutating func begin(at tick: Tick) {
    if state == .equal { state = .found(tick) }
    guard reported != tick else { return }
    reported = tick
    hasPeerReport = false
    isReportDelivered = false
    copies = 0
    isReportDue = true
  }

  /// Records that the peer's report of the tick arrived. If `isAnswer` is true, the peer has the
  /// local report, so no further copies are sent.
  mutating func receive(isAnswer: Bool) {
    hasPeerReport = true
    isReportDelivered = isReportDelivered || isAnswer
    if !isAnswer { isReportDue = true }
    state = .named
  }

  /// Whether the peer's report has arrived. The next local report then acknowledges it.
  var isAnswering: Bool { hasPeerReport }

  mutating func didReport() {
    isReportDue = false
    copies += 1
    age = 0
  }

  /// Advances the resend timer by one tick.
  mutating func tick() {
    guard reported != nil, !isReportDelivered, copies < Self.copyLimit else { return }
    age += 1
    if age >= Self.resendInterval { isReportDue = true }
  }
}
