import CaromCore
import CaromProtocol
import CaromTransport

// How sessions begin.
extension Session {
  /// Listens on `port`, seats peers as `admit` says, and runs `body`.
  ///
  /// `seats` peers may be connected at a time, and `spectatorSeats` who only look on; one more is
  /// told `full`. `admit` is asked once for each that asks for a seat. `timing.resumeLimit` is how
  /// long a peer whose network is gone may come back as if nothing had been.
  public static func host<Result>(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), loop: NetworkLoop,
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (Session, UInt16) async throws -> Result
  ) async throws -> Result {
    let node = SessionNode(
      local, seats: seats, spectatorSeats: spectatorSeats, timing: timing, over: kinds, on: loop)
    let session = await Session(node: node, admit: admit)
    return try await session.run {
      let port = try await node.listen(on: addresses, port: port)
      return try await body(session, port)
    }
  }

  /// Connects to a host at one of `endpoints`, asks for a seat and, once it is granted, runs
  /// `body`. A `token` that the host gave before spares a round trip: see `joinToken`.
  public static func join<Result>(
    _ endpoints: [Endpoint], as local: PeerInfo, over kinds: LinkKinds = .all,
    timing: SessionTiming = SessionTiming(), within limit: Duration = .seconds(10),
    retrying policy: RetryPolicy = .never, token: JoinToken? = nil, loop: NetworkLoop,
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    let node = SessionNode(local, seats: 0, timing: timing, over: kinds, on: loop)
    if let token { await node.keep(token) }
    let session = await Session(node: node, admit: nil)
    return try await session.run {
      let link = try await session.connect(to: endpoints, within: limit, retrying: policy)
      guard let host = await session.hub.peer(link) else {
        throw SessionError.refused(.connectionLost)
      }
      return try await body(session, host)
    }
  }

  /// As `join`, to a host by its name or address in text.
  public static func join<Result>(
    host: String, port: UInt16, as local: PeerInfo, over kinds: LinkKinds = .all,
    timing: SessionTiming = SessionTiming(), within limit: Duration = .seconds(10),
    retrying policy: RetryPolicy = .never, token: JoinToken? = nil, loop: NetworkLoop,
    _ body: (Session, Peer) async throws -> Result
  ) async throws -> Result {
    let addresses: [IPAddress]
    do throws(TransportError) {
      addresses = try await loop.lookup(host: host)
    } catch { throw SessionError.transport(error) }
    return try await join(
      addresses.map { Endpoint($0, port: port) }, as: local, over: kinds, timing: timing,
      within: limit, retrying: policy, token: token, loop: loop, body)
  }

  private func connect(
    to endpoints: [Endpoint], within limit: Duration, retrying policy: RetryPolicy
  ) async throws -> ConnectionID {
    var generator = SystemRandomNumberGenerator()
    for attempt in 1... {
      do throws(SessionError) {
        return try await node.connect(to: endpoints, within: limit)
      } catch {
        guard error.isWorthRetrying, !Task.isCancelled,
          let delay = policy.delay(after: attempt, using: &generator)
        else { throw error }
        try await loop.sleep(until: loop.now + delay)
      }
    }
    preconditionFailure("the loop above returns or throws")
  }
}
