import CaromCrypto
import CaromProtocol
import CaromTesting
import CaromTransport

/// How a client has joined, so that it can join another host in the same way.
struct JoinSettings: Sendable {
  /// It has the id that the client's key or connect token has proven.
  let local: PeerInfo
  let kinds: LinkKinds
  let timing: SessionTiming
  /// It has the identity that the client has used, also if that was made for the session.
  let security: SessionSecurity
  let conditions: LinkProfile?
}

extension Session {
  /// Joins the host at which the match goes on, after this session's host has disconnected this
  /// client for the reason `moved`. Runs `body` with the new session and the host.
  ///
  /// The client has the same id as before, and the same settings for links, timing and network
  /// conditions. If the host has sent a connect token, the client uses that. Otherwise it uses the
  /// same security as before: a connect token cannot be used again, and a session that accepts only
  /// the host of a certain name joins only a host of that name.
  ///
  /// ```swift
  /// func play(_ session: Session, _ host: Peer) async throws {
  ///   for await event in session.events {
  ///     guard case .left(_, .moved(let next)) = event else { continue }
  ///     try await session.follow(to: next, play)
  ///   }
  /// }
  /// ```
  ///
  /// Throws `SessionError.refused(.moved)` if `next` does not say where the host is, or if this
  /// session was not joined with `Session.join`, and `SessionError.refused(.tokenRefused)` if
  /// `next` has no connect token and the last one is used up.
  public func follow<Result>(
    to next: NextHost, within limit: Duration = .seconds(10), retrying policy: RetryPolicy = .never,
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    guard let settings, !next.endpoints.isEmpty else {
      throw SessionError.refused(.moved(to: next))
    }
    return try await Session.join(
      next.endpoints, as: settings.local, over: settings.kinds, timing: settings.timing,
      security: try settings.security.following(next), within: limit, retrying: policy,
      conditions: settings.conditions, loop: loop, body)
  }
}

extension SessionSecurity {
  /// The security with which a client joins the next host.
  func following(_ next: NextHost) throws(SessionError) -> SessionSecurity {
    guard next.hasToken else {
      if policy == .token { throw .refused(.tokenRefused(.used)) }
      return self
    }
    guard let token = next.token else { throw .refused(.protocolViolation) }
    return .token(token)
  }
}
