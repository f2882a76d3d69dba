import CaromCore
import CaromProtocol
import CaromSession
import CaromTransport

extension Session {
  /// Hosts a session whose matches a fleet places.
  ///
  /// The host registers with the directory, and admits the players who come with a connect token
  /// for one of its matches. `body` runs the matches: `FleetMatches.takeEvents` says which begin,
  /// go on and end. When `body` returns, the host leaves the fleet: its players are told to ask the
  /// fleet, and another host goes on with each match from its last checkpoint. To leave without a
  /// loss, drain the host first (see `FleetMatches.drain`).
  ///
  /// While the directory cannot be reached, matches go on, and the host registers as soon as it
  /// can. The game must not use channel 63.
  ///
  /// - Parameters:
  ///   - fleet: The fleet, and what this host tells it about itself.
  ///   - local: This host.
  ///   - port: The port to listen on; 0 for one that the system chooses.
  ///   - addresses: The addresses to listen on.
  ///   - kinds: The kinds of links that players may use.
  ///   - seats: The number of seats of all matches together, 1 to 65,535.
  ///   - timing: The time limits of the session.
  ///   - loop: The loop of the session and of the host's connection to the directory.
  ///   - body: Runs the matches.
  /// - Throws: `SessionError` if the session cannot listen, and what `body` throws.
  public static func host<Result>(
    in fleet: FleetSettings, as local: PeerInfo, port: UInt16 = 0,
    on addresses: [IPAddress] = [.any4, .any6], over kinds: LinkKinds = .all, seats: Int,
    timing: SessionTiming = SessionTiming(), loop: NetworkLoop,
    _ body: (Session, FleetMatches) async throws -> Result
  ) async throws -> Result {
    let gate = FleetGate(takesOneMatch: fleet.takesOneMatch)
    return try await host(
      as: local, port: port, on: addresses, over: kinds, seats: seats, timing: timing,
      security: .token(keys: [fleet.key] + fleet.otherKeys, as: fleet.identity),
      // The proxy may keep the bytes, or remove them.
      routing: SessionRouting(received: fleet.routing), loop: loop,
      admit: { gate.admit($0) }
    ) { session, port in
      let record = fleet.record(port: port, seats: seats)
      let membership = FleetMembership(
        of: record, in: fleet.directory, keys: [fleet.key] + fleet.otherKeys, on: loop)
      let matches = FleetMatches(of: membership, over: session, gate: gate, key: fleet.key)
      await matches.begin()
      do {
        let result = try await body(session, matches)
        await matches.withdraw()
        return result
      } catch {
        await matches.withdraw()
        throw error
      }
    }
  }
}
