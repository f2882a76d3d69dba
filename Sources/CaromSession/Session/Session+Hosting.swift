import CaromCore
import CaromProtocol
import CaromTesting
import CaromTransport

extension Session {
  /// Listens on `port`, admits peers as `admit` decides, and runs `body` with the session and the
  /// port number. If `port` is 0, the system chooses the port.
  ///
  /// Up to `seats` players and `spectatorSeats` spectators can be connected at a time. Further
  /// peers are refused with `full`. `admit` is called once for each peer that requests a seat.
  /// `security` says how connections are protected; every peer must use matching security. Unless
  /// it is `.none`, the session has the id of its identity instead of that in `local`.
  /// `timing.resumeLimit` is the time within which a peer that has lost its network can return
  /// without losing its seat or any reliable message.
  ///
  /// If `kinds` has `.webSocket`, browsers can join on the same port: `browsers` has the pages that
  /// they load. A link over a WebSocket is protected as `security` says, like any other: a browser
  /// whose client does not encrypt can join only with `.none`.
  ///
  /// `routing` has the bytes that datagrams carry if players reach the host through a proxy that
  /// keeps them or expects them from the host.
  ///
  /// With `conditions`, for example `.mobile`, datagrams are delayed and lost on this side as
  /// `SessionNode.simulate` describes, and the session uses no streams. Use `conditions` to try out
  /// a game during development, and pass them on one side only.
  public static func host<Result>(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    browsers: BrowserOptions = BrowserOptions(), routing: SessionRouting = SessionRouting(),
    conditions: LinkProfile? = nil, loop: NetworkLoop,
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (Session, UInt16) async throws -> Result
  ) async throws -> Result {
    try await host(
      as: local, port: port, on: addresses, over: kinds, seats: seats,
      spectatorSeats: spectatorSeats, timing: timing, security: security,
      browsers: browsers, routing: routing, conditions: conditions, loops: [loop],
      admit: admit, body)
  }

  /// Hosts a session, as `host(as:port:…:loop:…)` does, on `count` event loops that the session
  /// creates and shuts down itself.
  public static func host<Result>(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    browsers: BrowserOptions = BrowserOptions(), routing: SessionRouting = SessionRouting(),
    conditions: LinkProfile? = nil,
    loops count: Int = 1,
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (Session, UInt16) async throws -> Result
  ) async throws -> Result {
    precondition(count > 0, "a session needs at least one loop")
    var loops: [NetworkLoop] = []
    do {
      for number in 0..<count { loops.append(try NetworkLoop(name: "carom-loop-\(number)")) }
      let result = try await host(
        as: local, port: port, on: addresses, over: kinds, seats: seats,
        spectatorSeats: spectatorSeats, timing: timing, security: security,
        browsers: browsers, routing: routing, conditions: conditions, loops: loops, admit: admit,
        body)
      for loop in loops { await loop.shutdown() }
      return result
    } catch {
      for loop in loops { await loop.shutdown() }
      throw error
    }
  }

  /// Hosts a session on all of `loops`, behind one port.
  ///
  /// Seats are counted over all loops. `admit` runs on the loop that will have the peer's
  /// connection, so it may run for several peers at the same time. With more than one loop, throws
  /// `TransportError.portSharingUnsupported` if the system cannot share a port among sockets, and
  /// `addressInUse` if any other program uses the port, even if that program is willing to share
  /// it.
  public static func host<Result>(
    as local: PeerInfo, port: UInt16 = 0, on addresses: [IPAddress] = [.any4, .any6],
    over kinds: LinkKinds = .all, seats: Int = 1, spectatorSeats: Int = 0,
    timing: SessionTiming = SessionTiming(), security: SessionSecurity = .anyone,
    browsers: BrowserOptions = BrowserOptions(), routing: SessionRouting = SessionRouting(),
    conditions: LinkProfile? = nil,
    loops: [NetworkLoop],
    admit: @escaping @Sendable (PeerInfo) -> Admission = { _ in .accept },
    _ body: (Session, UInt16) async throws -> Result
  ) async throws -> Result {
    precondition(!loops.isEmpty, "a session needs at least one loop")
    precondition(loops.count <= loopLimit, "a session can use at most \(loopLimit) loops")
    precondition(!addresses.isEmpty, "a host listens on at least one address")
    precondition(seats >= 0 && spectatorSeats >= 0, "a number of seats is 0 or more")
    let kinds = conditions == nil ? kinds : .datagram
    guard loops.count > 1 else {
      let node = SessionNode(
        local, seats: seats, spectatorSeats: spectatorSeats, timing: timing, over: kinds,
        security: security, browsers: browsers, routing: routing, on: loops[0])
      if let conditions { await node.simulate(conditions, asHost: true) }
      let session = await Session([node], admit: admit)
      return try await session.run {
        let port = try await node.listen(on: addresses, port: port)
        return try await body(session, port)
      }
    }
    let share = PortShare(
      seats: seats, spectatorSeats: spectatorSeats, security: security, browsers: browsers,
      routing: routing, on: loops[0])
    let nodes = loops.indices.map { member in
      SessionNode(
        local, sharing: share, member: member, timing: timing, over: kinds, on: loops[member])
    }
    if let conditions {
      for node in nodes { await node.simulate(conditions, asHost: true) }
    }
    let session = await Session(nodes, admit: admit)
    return try await session.run {
      let port = try await SessionNode.listen(nodes, on: addresses, port: port)
      return try await body(session, port)
    }
  }
}
