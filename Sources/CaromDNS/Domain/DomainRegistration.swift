import CaromCore

/// Registers one service in a zone by dynamic updates (RFC 2136), renews its lease, and removes it.
///
/// The registration is polled. Send the update from `pollUpdate`, pass its result to
/// `handleSuccess` or `handleFailure`, handle the events from `pollEvent`, and call `pollUpdate`
/// again at `nextTimeout` and after each change. At most one update is under way.
///
/// A service belongs to the registration whose SRV record it has, because the target is a host name
/// with 64 random bits. All later updates therefore require that SRV record, so that a repeated
/// update does no harm, and a service that was removed and registered again by another host is left
/// alone.
package struct DomainRegistration: Sendable {
  /// The time within which a free name must be found, as on the link (RFC 6762 §9).
  static let claimLimit = Duration.seconds(60)
  /// The shortest and the longest interval between two attempts after a failure.
  static let retryInterval = Duration.seconds(1)...Duration.seconds(30)
  /// The difference between the clocks, in seconds, from which a lease is written again by the
  /// server's clock.
  static let clockAccuracy: UInt64 = 2
  /// The permitted durations of a lease.
  package static let leases = Duration.seconds(10)...Duration.seconds(86_400)

  /// An event of the registration.
  package enum Event: Hashable, Sendable {
    /// The service is registered under its first name.
    case published(name: String)
    /// The service is registered under another name than before.
    case renamed(name: String)
    /// The service could not be registered. No further events follow.
    case failed(UnicastError)
    /// The service has been removed. No further events follow.
    case withdrawn
  }

  private enum State: Sendable {
    case claiming
    /// The name is in use; the update finds out whether by this service.
    case checking
    case established(renewal: Instant)
    case removing
    case removingType
    case ended
  }

  private let zone: Name
  private let host: [UInt8]
  private let lease: Duration
  private let type: ServiceType
  private let port: UInt16
  private let renames: Bool
  private var state = State.claiming
  private var isUnderWay = false
  private var service: DomainService
  private var name: String
  private var content: DomainService.Content
  /// The content that the zone contains. Nil before the first claim was sent.
  private var published: DomainService.Content?
  /// The content of the update that is under way.
  private var sent: DomainService.Content?
  private var pendingName: String?
  private var isWithdrawing = false
  private var needsUpdate = false
  private var reportedName: String?
  private var claimStart: Instant?
  private var nextAttempt: Instant?
  private var failures = 0
  /// How far the server's clock is ahead of this host's, in seconds.
  private var clockOffset: Int64 = 0
  private var events = Deque<Event>()

  /// Creates a registration of `registration` in `domain`, which is part of `zone`. `hostLabel`
  /// must be unique. Throws an error if a name is too long.
  package init(
    _ registration: Registration, in domain: Name, zone: Name, hostLabel: String,
    addresses: [IPAddress], lease: Duration
  ) throws(NameError) {
    precondition(Self.leases.contains(lease), "a lease lasts from 10 seconds to a day")
    self.zone = zone
    self.lease = lease
    host = Array(hostLabel.utf8)
    type = registration.type
    port = registration.port
    renames = registration.renames
    name = registration.instance
    service = try DomainService(registration.instance, registration.type, in: domain)
    content = DomainService.Content(
      text: registration.text, subtypes: Self.labels(registration.subtypes),
      addresses: addresses)
    _ = try Name(labels: [host] + domain.labels)
  }

  private static func labels(_ subtypes: [String]) -> [[UInt8]] {
    subtypes.map { Array($0.composed.utf8) }
  }

  /// Whether the registration has ended, after `failed` or `withdrawn`.
  package var hasEnded: Bool { if case .ended = state { true } else { false } }

  /// Whether the zone contains the service as it is described now.
  package var isUpToDate: Bool {
    guard case .established = state else { return false }
    return !isUnderWay && !needsUpdate && pendingName == nil
  }

  /// The full name of the service.
  package var fullName: Name { service.instance }

  /// Removes and returns the next event, or returns nil if there is none.
  package mutating func pollEvent() -> Event? { events.popFirst() }

  /// The next time at which `pollUpdate` must be called, or nil while an update is under way or if
  /// the registration has ended.
  package var nextTimeout: Instant? {
    guard !isUnderWay else { return nil }
    if case .established(let renewal) = state { return nextAttempt ?? renewal }
    return hasEnded ? nil : nextAttempt
  }
}

// MARK: - Changes

extension DomainRegistration {
  /// Replaces the TXT record.
  package mutating func update(text: TXTRecord) { change { $0.text = text } }

  /// Replaces the subtypes.
  package mutating func update(subtypes: [String]) {
    change { $0.subtypes = Self.labels(subtypes) }
  }

  /// Replaces the addresses of the host.
  package mutating func update(addresses: [IPAddress]) { change { $0.addresses = addresses } }

  private mutating func change(_ body: (inout DomainService.Content) -> Void) {
    let before = content
    body(&content)
    if content != before { needsUpdate = true }
  }

  /// Removes the service and registers it under another name.
  package mutating func rename(to name: String) throws(NameError) {
    _ = try DomainService(name, type, in: service.domain)
    if name != self.name || pendingName != nil { pendingName = name }
  }

  /// Removes the service. `withdrawn` follows when it has been removed, or could not be.
  package mutating func withdraw() { isWithdrawing = true }
}

// MARK: - Updates

extension DomainRegistration {
  private var offer: RecordData {
    .service(
      priority: 0, weight: 0, port: port, target: service.hostName(host) ?? service.domain)
  }

  /// Returns the update to send now, or nil if there is none. `time` is the time on the wall clock
  /// in seconds since the beginning of 1970.
  package mutating func pollUpdate(at now: Instant, time: UInt64) -> DynamicUpdate? {
    guard !isUnderWay, !hasEnded else { return nil }
    startRemoval()
    if hasEnded { return nil }
    if !isWithdrawing, let nextAttempt, now < nextAttempt { return nil }
    if case .established(let renewal) = state, now < renewal, !needsUpdate, nextAttempt == nil {
      return nil
    }
    nextAttempt = nil
    isUnderWay = true
    return makeUpdate(at: now, time: time)
  }

  /// Begins to remove the service if it is to be withdrawn or renamed.
  private mutating func startRemoval() {
    guard isWithdrawing || pendingName != nil else { return }
    switch state {
    case .established, .checking: state = .removing
    case .claiming:
      if published != nil {
        state = .removing
      } else if isWithdrawing {
        end(.withdrawn)
      } else {
        takePendingName()
      }
    case .removing, .removingType, .ended: break
    }
  }

  private mutating func makeUpdate(at now: Instant, time: UInt64) -> DynamicUpdate {
    let expires = Int64(time) + clockOffset + lease.components.seconds
    let lease = Lease(
      expires: UInt64(max(0, expires)), host: host, subtypes: content.subtypes)
    sent = content
    switch state {
    case .claiming:
      claimStart = claimStart ?? now
      published = content
      needsUpdate = false
      return service.claim(in: zone, offer, content, lease)
    case .checking: return service.check(in: zone, offer)
    case .established, .ended:
      needsUpdate = false
      return service.change(
        in: zone, offer, from: published ?? content, to: content, lease)
    case .removing:
      let subtypes = (published?.subtypes ?? []) + content.subtypes
      return service.removal(
        in: zone, offer, Lease(expires: 0, host: host, subtypes: Self.unique(subtypes)))
    case .removingType: return service.typeRemoval(in: zone)
    }
  }

  private static func unique(_ labels: [[UInt8]]) -> [[UInt8]] {
    var seen: Set<[UInt8]> = []
    return labels.filter { seen.insert($0).inserted }
  }
}

// MARK: - Results

extension DomainRegistration {
  /// Handles the success of the update. `serverTime` is the server's time, and `time` the time on
  /// the wall clock, both in seconds since the beginning of 1970.
  package mutating func handleSuccess(serverTime: UInt64, time: UInt64, at now: Instant) {
    isUnderWay = false
    failures = 0
    switch state {
    case .claiming, .checking, .established:
      establish(at: now)
      adjustClock(by: Int64(serverTime) - Int64(time))
    case .removing: state = .removingType
    case .removingType: finishRemoval()
    case .ended: break
    }
  }

  private mutating func establish(at now: Instant) {
    if case .established = state { published = sent }
    state = .established(renewal: now + lease / 2)
    claimStart = nil
    guard reportedName != name else { return }
    events.append(reportedName == nil ? .published(name: name) : .renamed(name: name))
    reportedName = name
  }

  /// Writes the lease again if it was written by a clock that differs from the server's.
  private mutating func adjustClock(by offset: Int64) {
    guard (offset - clockOffset).magnitude >= Self.clockAccuracy else { return }
    clockOffset = offset
    needsUpdate = true
  }

  /// Handles the failure of the update.
  package mutating func handleFailure(_ error: UnicastError, at now: Instant) {
    isUnderWay = false
    switch (state, error) {
    case (.claiming, .nameInUse): state = .checking
    case (.checking, .prerequisiteFailed): resolveConflict(at: now)
    case (.established, .prerequisiteFailed):
      // The lease ended while the server could not be reached, and the service was removed.
      state = .claiming
    case (.removing, .prerequisiteFailed): state = .removingType
    case (.removing, _) where !isWithdrawing:
      // Two services must not share a host, whose addresses are removed with the first of them.
      retryLater(at: now)
    case (.removing, _), (.removingType, _): finishRemoval()
    case (.claiming, _) where reportedName == nil, (.checking, _) where reportedName == nil:
      if isWithdrawing { return }
      end(.failed(error))
    case (.claiming, _), (.checking, _), (.established, _): retryLater(at: now)
    case (.ended, _): break
    }
  }

  /// Chooses the next name, since the name belongs to another service.
  private mutating func resolveConflict(at now: Instant) {
    published = nil
    state = .claiming
    let start = claimStart ?? now
    let next = InstanceName.successor(of: name)
    guard renames || isWithdrawing, now - start < Self.claimLimit,
      let service = try? DomainService(next, type, in: service.domain)
    else { return end(.failed(.nameInUse)) }
    (name, self.service) = (next, service)
  }

  private mutating func retryLater(at now: Instant) {
    let limits = Self.retryInterval
    needsUpdate = true
    nextAttempt = now + min(limits.lowerBound * (1 << min(failures, 5)), limits.upperBound)
    failures += 1
  }

  private mutating func finishRemoval() {
    published = nil
    state = .claiming
    if isWithdrawing { end(.withdrawn) } else { takePendingName() }
  }

  private mutating func takePendingName() {
    guard let next = pendingName, let service = try? DomainService(next, type, in: service.domain)
    else { return }
    pendingName = nil
    claimStart = nil
    (name, self.service) = (next, service)
  }

  private mutating func end(_ event: Event) {
    state = .ended
    events.append(event)
  }
}
