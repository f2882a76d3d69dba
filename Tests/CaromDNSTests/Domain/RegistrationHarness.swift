import CaromCore
import CaromDNS
import Testing

/// A registration and a zone in virtual time.
struct RegistrationHarness {
  static let domain: Name = "play.example"
  static let type: Name = "_game._udp.play.example"
  /// The time at the instant zero, in seconds since the beginning of 1970.
  static let start: UInt64 = 1_764_180_000
  static let lease = Duration.seconds(600)

  /// What happens to an update on its way.
  enum Fate { case delivered, requestLost, responseLost }

  var registration: DomainRegistration
  var now = Instant.zero
  /// How far the server's clock is ahead, in seconds.
  var clockOffset: Int64 = 0
  private(set) var updates: [DynamicUpdate] = []
  private(set) var events: [DomainRegistration.Event] = []

  init(
    _ name: String = "Ann", host: String = "ann-1", text: TXTRecord = ["seats": "1/2"],
    subtypes: [String] = [], renames: Bool = true
  ) throws {
    let service = Registration(
      instance: name, type: "_game._udp", port: 7777, text: text, subtypes: subtypes,
      renames: renames)
    registration = try DomainRegistration(
      service, in: Self.domain, zone: Self.domain, hostLabel: host,
      addresses: [.v4(0xC000_0209)], lease: Self.lease)
  }

  static func instance(_ name: String) throws -> Name { try type.prefixed(by: name) }

  /// The time on this host's wall clock.
  var time: UInt64 { Self.start + UInt64((now - Instant.zero).components.seconds) }

  /// Sends at most one update to `zone`. Returns false if there is none.
  @discardableResult
  mutating func step(_ zone: inout ZoneModel, _ fate: Fate = .delivered) -> Bool {
    defer { while let event = registration.pollEvent() { events.append(event) } }
    guard let update = registration.pollUpdate(at: now, time: time) else { return false }
    updates.append(update)
    let error = fate == .requestLost ? .timedOut : zone.apply(update)
    if let error = fate == .responseLost ? .timedOut : error {
      registration.handleFailure(error, at: now)
    } else {
      registration.handleSuccess(
        serverTime: UInt64(Int64(time) + clockOffset), time: time, at: now)
    }
    return true
  }

  /// Sends updates until there is none to send now.
  mutating func settle(_ zone: inout ZoneModel) {
    var count = 0
    while step(&zone) {
      count += 1
      guard count < 1000 else {
        Issue.record("the registration sends updates without end")
        return
      }
    }
  }

  /// Advances to the next timeout and sends one update.
  mutating func advance(_ zone: inout ZoneModel, _ fate: Fate = .delivered) throws {
    now = max(now, try #require(registration.nextTimeout))
    step(&zone, fate)
  }
}
