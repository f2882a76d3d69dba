/// Compares one peer's hashes of confirmed states with those made here, whichever comes first, and
/// carries the exchange of reports once two differ. Only confirmed ticks are compared, so that a
/// foretold state is never taken for a desync.
struct DesyncDetector: Sendable {
  /// How many of the peer's hashes wait for the tick to be confirmed here.
  static let waitingLimit = 128
  /// Ticks between two copies of a report that nobody answered.
  static let patience = 15
  /// The most copies.
  static let copyLimit = 16

  enum State: Hashable, Sendable {
    case equal
    /// The hashes of that tick differ; reports are on their way.
    case found(Tick)
    case named
  }

  private(set) var state = State.equal
  /// The newest tick of which both sides had the same hash.
  private(set) var agreedThrough: Tick?
  /// How many hashes were compared.
  private(set) var compared = 0
  /// The tick that reports are about.
  private(set) var reported: Tick?
  /// Whether a report is to be sent now.
  var isReportDue = false
  private var waiting: [(tick: Tick, hash: UInt32)?] = []
  private var hasTheirs = false
  private var haveOurs = false
  private var copies = 0
  private var age = 0

  init() { waiting = Array(repeating: nil, count: Self.waitingLimit) }

  /// The peer's hash of a tick; `own` gives the one of here, where that is confirmed.
  mutating func note(_ hash: UInt32, at tick: Tick, own: UInt64?) {
    guard state == .equal else { return }
    guard let own else {
      waiting[Int(tick.rawValue % UInt64(Self.waitingLimit))] = (tick, hash)
      return
    }
    compare(hash, own, at: tick)
  }

  /// A tick was confirmed here.
  mutating func confirm(_ tick: Tick, hash: UInt64) {
    guard state == .equal else { return }
    let slot = Int(tick.rawValue % UInt64(Self.waitingLimit))
    guard let other = waiting[slot], other.tick == tick else { return }
    waiting[slot] = nil
    compare(other.hash, hash, at: tick)
  }

  private mutating func compare(_ theirs: UInt32, _ own: UInt64, at tick: Tick) {
    compared += 1
    if theirs == UInt32(truncatingIfNeeded: own) {
      agreedThrough = max(agreedThrough ?? tick, tick)
    } else {
      begin(at: tick)
    }
  }

  /// The peers differ at that tick, as far as is known.
  mutating func begin(at tick: Tick) {
    if state == .equal { state = .found(tick) }
    guard reported != tick else { return }
    reported = tick
    hasTheirs = false
    haveOurs = false
    copies = 0
    isReportDue = true
  }

  /// A report of the peer came, of the tick that is reported here as well.
  mutating func receive(isAnswer: Bool) {
    hasTheirs = true
    haveOurs = haveOurs || isAnswer
    if !isAnswer { isReportDue = true }
    state = .named
  }

  /// Whether the report that is sent now answers one.
  var answers: Bool { hasTheirs }

  mutating func didReport() {
    isReportDue = false
    copies += 1
    age = 0
  }

  /// A tick passed.
  mutating func tick() {
    guard reported != nil, !haveOurs, copies < Self.copyLimit else { return }
    age += 1
    if age >= Self.patience { isReportDue = true }
  }
}
