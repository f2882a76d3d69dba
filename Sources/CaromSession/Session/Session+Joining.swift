import CaromCore
import CaromCrypto
import CaromProtocol
import CaromTesting
import CaromTransport

extension Session {
  /// Connects to a host at one of `endpoints`, requests a seat and, once the host admits this
  /// client, runs `body` with the session and the host. A `token` from an earlier session with the
  /// same host saves a round trip (see `joinToken`), and so does the right `hostKey`, the public
  /// key that the host advertises: see `SessionNode.connect`. `security` must match the host's;
  /// unless it is `.none` or a connect token, this client has the id of its identity. `routing` has
  /// the bytes by which a proxy in front of the host finds it; without any, those of the connect
  /// token are used, if there is one. `conditions` has the same meaning as for `Session.host`.
  public static func join<Result>(
    _ endpoints: [Endpoint], as local: PeerInfo, over kinds: LinkKinds = .all,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    within limit: Duration = .seconds(10), retrying policy: RetryPolicy = .never,
    token: JoinToken? = nil, hostKey: PublicKey? = nil,
    routing: SessionRouting = SessionRouting(), conditions: LinkProfile? = nil, loop: NetworkLoop,
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    let kinds = conditions == nil ? kinds : .datagram
    let security = security.withIdentity(on: loop)
    let routing = routing.isEmpty ? security.tokenRouting : routing
    let node = SessionNode(
      local, seats: 0, timing: timing, over: kinds, security: security, routing: routing, on: loop)
    if let conditions { await node.simulate(conditions, asHost: false) }
    if let token { await node.store(token) }
    let settings = JoinSettings(
      local: node.local, kinds: kinds, timing: timing, security: security, conditions: conditions)
    let session = await Session([node], admit: nil, joinedWith: settings)
    return try await session.run {
      let connection = try await session.connect(
        to: endpoints, hostKey: hostKey, within: limit, retrying: policy)
      // A host that has left in the meantime is a peer too: what it sent can still be read.
      guard let host = await session.hubs[0].peer(connection) else {
        throw SessionError.refused(.connectionLost)
      }
      return try await body(session, host)
    }
  }

  /// Joins the host with the given host name, or IP address as a string, as `join(_:as:…)` does
  /// with endpoints.
  public static func join<Result>(
    host: String, port: UInt16, as local: PeerInfo, over kinds: LinkKinds = .all,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    within limit: Duration = .seconds(10), retrying policy: RetryPolicy = .never,
    token: JoinToken? = nil, hostKey: PublicKey? = nil,
    routing: SessionRouting = SessionRouting(), conditions: LinkProfile? = nil, loop: NetworkLoop,
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    let addresses: [IPAddress]
    do throws(TransportError) {
      addresses = try await loop.lookup(host: host)
    } catch { throw SessionError.transport(error) }
    return try await join(
      addresses.map { Endpoint($0, port: port) }, as: local, over: kinds, timing: timing,
      security: security, within: limit, retrying: policy, token: token,
      hostKey: hostKey, routing: routing, conditions: conditions, loop: loop, body)
  }

  private func connect(
    to endpoints: [Endpoint], hostKey: PublicKey?, within limit: Duration,
    retrying policy: RetryPolicy
  ) async throws(SessionError) -> ConnectionID {
    var generator = LoopGenerator(of: loop)
    for attempt in 1... {
      do throws(SessionError) {
        return try await node.connect(to: endpoints, hostKey: hostKey, within: limit)
      } catch {
        // A cancelled task throws `cancelled` from the delay.
        guard error.isWorthRetrying,
          let delay = policy.delay(after: attempt, using: &generator)
        else { throw error }
        try await wait(delay)
      }
    }
    preconditionFailure("the loop above returns or throws")
  }

  private func wait(_ delay: Duration) async throws(SessionError) {
    do throws(TransportError) {
      try await loop.sleep(until: loop.now + delay)
    } catch { throw .transport(error) }
  }
}
