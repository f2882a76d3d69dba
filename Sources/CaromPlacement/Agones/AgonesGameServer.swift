import CaromCore

/// The machine of a game server under Agones: what it tells its sidecar, and when. It is ready when
/// it listens, healthy twice in each period, allocated when its first player has come, and shut
/// down when it is done. Lists and counters are sent when they have changed.
///
/// After each call of a mutating method, poll the request and the events until there are none. One
/// request is under way at a time, and its outcome must be reported by `handle`.
///
/// The sidecar may start after the server and go away at any time, so whatever it has not taken is
/// sent again, after growing delays of at most a second.
package struct AgonesGameServer: Sendable {
  package enum Event: Hashable, Sendable {
    /// The sidecar takes no requests. Told once, until it is back.
    case away
    /// The sidecar takes requests again.
    case back
    /// The sidecar does not take a list or a counter, most likely because the fleet's manifest does
    /// not have it. Told once for each of them, until it is taken.
    case refused(AgonesRequest, status: Int)
    /// The machine is done. `isTold` is whether Agones knows that the server has shut down.
    case finished(isTold: Bool)
  }

  package enum Outcome: Hashable, Sendable {
    /// The sidecar has done it. The status is what a request for it was answered with.
    case done(AgonesStatus? = nil)
    /// The sidecar has answered with a status that is no success.
    case refused(status: Int)
    /// The sidecar could not be reached: it has not got the request.
    case unreachable
    /// The sidecar may have got the request, but gave no valid answer.
    case unanswered
  }

  /// How far the life of the server has come.
  private enum Phase: Int, Hashable, Sendable, Comparable {
    case starting, ready, allocated, shutdown

    static func < (a: Phase, b: Phase) -> Bool { a.rawValue < b.rawValue }

    var request: AgonesRequest? {
      switch self {
      case .starting: nil
      case .ready: .ready
      case .allocated: .allocate
      case .shutdown: .shutdown
      }
    }
  }

  /// A list or a counter.
  private struct Value: Sendable {
    var wanted: AgonesRequest
    /// What the sidecar has taken.
    var told: AgonesRequest?
    /// When it is tried again after the sidecar did not take it.
    var retryAt: Instant?

    var isTold: Bool { told == wanted }
  }

  /// The period of health that is assumed until Agones has told another one.
  package static let defaultPeriod = Duration.seconds(3)
  /// The longest and the shortest period that a server believes.
  static let periods = Duration.seconds(1)...Duration.seconds(3_600)
  /// How long the end of the server waits until Agones knows of it.
  package static let shutdownLimit = Duration.seconds(3)
  /// How long a request that the sidecar has refused, and that others do not need, is not repeated.
  static let refusalInterval = Duration.seconds(30)
  /// The maximum number of lists and counters.
  static let valueLimit = 16

  private var wanted = Phase.ready
  private var told = Phase.starting
  /// Whether the sidecar may have got a request to be ready that it has not answered. A second one
  /// could come after Agones has allocated the server, and would make it free again.
  private var isReadyUncertain = false
  /// Half of the period of health; nil if Agones does not want to hear of it.
  private var healthInterval: Duration? = defaultPeriod / 2
  private var lastHealth: Instant
  /// When the server has to say again that it is healthy.
  private var healthDue: Instant
  private var isHealthy = true
  /// When Agones is asked for the period of health; nil once it has told it.
  private var statusDue: Instant?
  private var values: [Value] = []
  private var isAway = false
  /// When the next request is tried after one that has failed.
  private var retryAt: Instant?
  private var delay = ReconnectDelay()
  /// When the machine is done, whether Agones knows of it or not.
  private var endBy: Instant?
  private var hasEnded = false
  private var outstanding: AgonesRequest?
  private var request: AgonesRequest?
  private var events = Deque<Event>()

  /// Creates the machine of a server that listens from now on.
  package init(at now: Instant) {
    lastHealth = now
    healthDue = now + Self.defaultPeriod / 2
    statusDue = now
    proceed(at: now)
  }

  /// Returns the request to send, once.
  package mutating func pollRequest() -> AgonesRequest? { request.take() }

  package mutating func pollEvent() -> Event? { events.popFirst() }

  package var nextTimeout: Instant? {
    guard !hasEnded else { return nil }
    guard outstanding == nil else { return endBy }
    if let retryAt { return earliest(retryAt, endBy) }
    var next = earliest(earliest(endBy, statusDue), isPinging ? healthDue : nil)
    for value in values where !value.isTold { next = earliest(next, value.retryAt) }
    return next
  }

  package mutating func handleTimeout(at now: Instant) {
    if let endBy, endBy <= now { return end(isTold: false) }
    proceed(at: now)
  }

  // MARK: What the server reports

  /// Reports that a player has come, so that Agones must not take the server away.
  package mutating func allocate(at now: Instant) {
    wanted = max(wanted, .allocated)
    proceed(at: now)
  }

  /// Reports whether the server is healthy. While it is not, it says nothing about its health, and
  /// Agones starts it again after some periods.
  package mutating func setHealthy(_ isHealthy: Bool, at now: Instant) {
    self.isHealthy = isHealthy
    proceed(at: now)
  }

  /// Sets the values of a list, which must need no escapes in JSON.
  package mutating func setList(
    _ name: String, _ values: [String], capacity: Int, at now: Instant
  ) {
    set(.setList(name: name, capacity: capacity, values: values), at: now)
  }

  /// Sets a counter.
  package mutating func setCounter(_ name: String, _ count: Int, capacity: Int, at now: Instant) {
    set(.setCounter(name: name, count: count, capacity: capacity), at: now)
  }

  private mutating func set(_ value: AgonesRequest, at now: Instant) {
    if let index = values.firstIndex(where: { $0.wanted.path == value.path }) {
      values[index].wanted = value
    } else {
      precondition(values.count < Self.valueLimit, "a server has 16 lists and counters at most")
      values.append(Value(wanted: value))
    }
    proceed(at: now)
  }

  /// Reports that the server is done. `finished` follows, after 3 seconds at most.
  package mutating func shutdown(at now: Instant) {
    guard endBy == nil else { return }
    wanted = .shutdown
    endBy = now + Self.shutdownLimit
    proceed(at: now)
  }

  // MARK: What the sidecar answers

  /// Takes the outcome of the request that was polled last.
  package mutating func handle(
    _ outcome: Outcome, at now: Instant, using generator: inout some RandomNumberGenerator
  ) {
    guard let request = outstanding.take(), !hasEnded else { return }
    switch (request, outcome) {
    case (_, .done(let status)):
      if isAway { comeBack() }
      delay.reset()
      finish(request, status, at: now)
    case (.setList, .refused(let status)), (.setCounter, .refused(let status)):
      refuse(request, status, at: now)
    case (.status, .refused):
      statusDue = now + Self.refusalInterval
      isReadyUncertain = false
      if isAway { retryAt = now + delay.next(using: &generator) }
    default:
      if request == .ready, outcome == .unanswered { isReadyUncertain = true }
      if request == .health { healthDue = now }
      if !isAway { events.append(.away) }
      isAway = true
      retryAt = now + delay.next(using: &generator)
    }
    proceed(at: now)
  }

  /// Notes that the sidecar takes requests again. It may be another one than before.
  private mutating func comeBack() {
    isAway = false
    events.append(.back)
    for index in values.indices { values[index].told = nil }
  }

  private mutating func finish(_ request: AgonesRequest, _ status: AgonesStatus?, at now: Instant) {
    switch request {
    case .ready: told = max(told, .ready)
    case .allocate: told = max(told, .allocated)
    case .health: break
    case .shutdown: end(isTold: true)
    case .status: learn(status, at: now)
    case .setList, .setCounter:
      guard let index = values.firstIndex(where: { $0.wanted.path == request.path }) else { return }
      values[index].told = request
      values[index].retryAt = nil
    }
  }

  private mutating func learn(_ status: AgonesStatus?, at now: Instant) {
    statusDue = nil
    if isReadyUncertain, let state = status?.state, Self.statesAfterReady.contains(state) {
      told = max(told, .ready)
    }
    isReadyUncertain = false
    guard let status else { return }
    healthInterval = status.healthPeriod.map {
      min(max($0, Self.periods.lowerBound), Self.periods.upperBound) / 2
    }
    if let healthInterval { healthDue = max(lastHealth + healthInterval, now) }
  }

  /// The states of a server that has been ready.
  private static let statesAfterReady = ["RequestReady", "Ready", "Reserved", "Allocated"]

  private mutating func refuse(_ request: AgonesRequest, _ status: Int, at now: Instant) {
    guard let index = values.firstIndex(where: { $0.wanted.path == request.path }) else { return }
    if values[index].retryAt == nil { events.append(.refused(request, status: status)) }
    values[index].told = nil
    values[index].retryAt = now + Self.refusalInterval
  }

  private mutating func end(isTold: Bool) {
    hasEnded = true
    request = nil
    events.append(.finished(isTold: isTold))
  }

  // MARK: The next request

  private var isPinging: Bool { isHealthy && healthInterval != nil }

  private mutating func proceed(at now: Instant) {
    guard !hasEnded, outstanding == nil else { return }
    if let retryAt, now < retryAt { return }
    retryAt = nil
    guard let next = nextRequest(at: now) else { return }
    outstanding = next
    request = next
    if next == .health, let healthInterval {
      lastHealth = now
      // After a pause, what was missed is not made up for.
      let next = healthDue + healthInterval
      healthDue = next > now ? next : now + healthInterval
    }
  }

  /// Returns what is sent next: an end first, then what must not be late.
  private func nextRequest(at now: Instant) -> AgonesRequest? {
    if wanted == .shutdown { return .shutdown }
    if isPinging, healthDue <= now { return .health }
    if isReadyUncertain { return .status }
    if told < wanted { return wanted.request }
    // While the sidecar is away, one of these asks whether it is back.
    if isAway { return isPinging ? .health : .status }
    if let statusDue, statusDue <= now { return .status }
    return values.first { !$0.isTold && $0.retryAt ?? now <= now }?.wanted
  }
}
