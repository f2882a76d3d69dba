import CaromCore
import CaromDiscovery
import CaromProtocol
import CaromSession
import CaromTesting
import CaromTransport

extension Session {
  /// Hosts a session that clients can discover: listens on the service's port, advertises the
  /// service, and runs `body` with the session and its advertisement, which has the service's final
  /// name. If the port is 0, the system chooses it. The host's public key is added to the service's
  /// TXT record (see `TXTRecord.hostKey`), unless clients need a code or a token.
  ///
  /// The other parameters are the same as those of `Session.host`.
  public static func host<Result>(
    _ service: AdvertisedService, as local: PeerInfo, interfaces: InterfaceSelection = .automatic,
    on addresses: [IPAddress] = [.any4, .any6], over kinds: LinkKinds = .all, seats: Int = 1,
    spectatorSeats: Int = 0, timing: SessionTiming = SessionTiming(),
    security: SessionSecurity = .anyone, browsers: BrowserOptions = BrowserOptions(),
    conditions: LinkProfile? = nil, loop: NetworkLoop,
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (Session, Advertisement) async throws -> Result
  ) async throws -> Result {
    try await host(
      as: local, port: service.port, on: addresses, over: kinds, seats: seats,
      spectatorSeats: spectatorSeats, timing: timing, security: security,
      browsers: browsers, conditions: conditions, loop: loop, admit: admit
    ) { session, port in
      var service = service
      service.port = port
      if service.txt.hostKey == nil { service.txt.hostKey = session.node.publicKey }
      return try await ServiceAdvertiser(service, interfaces: interfaces, on: loop).run {
        try await body(session, $0)
      }
    }
  }

  /// Joins a session that a browser has found: resolves the service's addresses, connects, and runs
  /// `body` once the host has granted a seat.
  ///
  /// The other parameters are the same as those of `Session.join` with endpoints.
  public static func join<Result>(
    _ service: DiscoveredService, as local: PeerInfo, over kinds: LinkKinds = .all,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    within limit: Duration = .seconds(10), retrying policy: RetryPolicy = .never,
    conditions: LinkProfile? = nil, loop: NetworkLoop,
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    let resolved = try await service.resolve(within: limit)
    return try await join(
      resolved.endpoints, as: local, over: kinds, timing: timing, security: security,
      within: limit, retrying: policy, hostKey: resolved.txt.hostKey, conditions: conditions,
      loop: loop, body)
  }
}
