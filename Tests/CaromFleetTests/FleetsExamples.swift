import Carom
import CaromFleet

// The examples of the page Fleets. Each is repeated there.

/// The state of a match, and what its players and its host send each other.
struct Count: PacketCodable, Hashable {
  var value: UInt64 = 0

  init(_ value: UInt64) { self.value = value }
  func encode(into writer: inout PacketWriter) { writer.write(value) }
  init(decoding reader: inout PacketReader) throws(DecodeError) { value = try reader.read() }
}

extension MessageChannel<Count> {
  /// The players raise the count of their match by these numbers.
  static var raises: Self { .init(0, .reliableOrdered) }
  /// The host tells the count.
  static var counts: Self { .init(1, .reliableOrdered) }
}

/// A host of a fleet whose matches are the simplest that there are: each is a number.
func hostCounts(
  in fleet: FleetSettings, as me: PeerInfo, port: UInt16 = 0, on loop: NetworkLoop
) async throws {
  try await Session.host(in: fleet, as: me, port: port, seats: 64, loop: loop) { session, matches in
    var counts: [MatchID: Count] = [:]
    // The matches that wait for another host, and must not change meanwhile.
    var moving: Set<MatchID> = []
    // What has come for them meanwhile.
    var waiting: [Received<Count>] = []
    // When the last player of a match has left.
    var emptied: [MatchID: Instant] = [:]
    var (isDraining, isAway) = (false, false)
    func checkpoint(_ count: Count) -> Checkpoint? { Checkpoint(tick: 0, state: count.encoded) }

    for await step in FixedStep(hertz: 30, on: loop) {
      for event in matches.takeEvents() {
        switch event {
        case .began(let match, let checkpoint, _):
          counts[match] = try checkpoint.map { try Count(decoding: $0.state.span) } ?? Count(0)
        case .moved(let match), .ended(let match), .finished(let match):
          (counts[match], emptied[match]) = (nil, nil)
          moving.remove(match)
        case .notMoved(let match, _): moving.remove(match)
        case .drainRequested:
          isDraining = true
          await matches.drain()
        case .away:
          isAway = true
          for match in moving { await matches.keep(match) }
          moving = []
        case .back: isAway = false
        case .emptied(let match, at: let time): emptied[match] = time
        case .left(because: let refusal?): throw refusal
        case .left, .patienceEnded: return
        case .registered, .refused: break
        }
      }
      let raises = waiting + session.takeMessages(on: .raises)
      waiting = []
      for raise in raises {
        guard let match = await matches.match(of: raise.peer), var count = counts[match] else {
          continue
        }
        guard !moving.contains(match) else {
          waiting.append(raise)
          continue
        }
        count.value += raise.message.value
        counts[match] = count
      }
      for (match, count) in counts where !moving.contains(match) {
        if let checkpoint = checkpoint(count) { await matches.save(checkpoint, of: match) }
        for peer in await matches.players(of: match) {
          // A peer who has no room for this count gets the next one.
          _ = peer.post(count, on: .counts)
        }
      }
      await finishAbandoned(counts, since: &emptied, of: matches)
      guard isDraining else { continue }
      if counts.isEmpty { return }
      // Once a second, in case that no other host has room now.
      guard step.tick.rawValue % 30 == 0, !isAway else { continue }
      for (match, count) in counts where moving.insert(match).inserted {
        await matches.move(match, checkpoint(count))
      }
    }
  }
}

/// Ends the matches that have been without players for a minute, with their counts as results.
func finishAbandoned(
  _ counts: [MatchID: Count], since times: inout [MatchID: Instant], of matches: FleetMatches
) async {
  for (match, time) in times where matches.loop.now >= time + .seconds(60) {
    times[match] = nil
    guard let count = counts[match], await matches.players(of: match).isEmpty else { continue }
    await matches.finish(match, result: count.encoded)
  }
}

/// A player who raises the count until it is 100, at whichever host has the match. Returns nil if
/// the match is over before.
func raiseCount(
  with token: ConnectToken, as me: PeerInfo, on loop: NetworkLoop,
  progress: @escaping @Sendable (MatchProgress) -> Void, show: (Count) -> Void
) async throws -> Count? {
  try await Session.joinMatch(with: token, as: me, loop: loop, progress: progress) {
    session, host in
    try await host.send(Count(1), on: .raises)
    for await count in session.messages(on: .counts) {
      show(count.message)
      if count.message.value >= 100 { return count.message }
      try await host.send(Count(1), on: .raises)
    }
    return nil
  }
}

/// A matchmaker: finds a host for the players of a match, and gives each of them a token for it.
func placePlayers(
  _ players: [PeerID], in match: MatchID, of game: GameVersion, key: BackendKey,
  _ directory: FleetDirectory
) async throws -> [ConnectToken] {
  try await directory.place(match, for: players, of: game, near: ["eu-west", "any"], key: key).get()
}

/// The directory of a fleet that is reached with TLS, whose password and authority are in files.
func secureDirectory() throws -> FleetAddress {
  var directory = try FleetAddress("rediss://redis.example/rack-1")
  try directory.readPassword(from: "redis.password")
  try directory.readAuthorities(from: "ca.pem")
  return directory
}

/// Runs a host from its files: the key of the fleet, which `carom token key FILE` creates once and
/// which all hosts and the matchmaker get a copy of, and the identity of this host, which is
/// created when it starts for the first time.
func runHost(
  of directory: FleetAddress, keyFile: String, identityFile: String, address: IPAddress,
  on loop: NetworkLoop
) async throws {
  let fleet = FleetSettings(
    directory, key: try BackendKeyFile(path: keyFile).load(),
    as: try IdentityFile.loadOrCreate(at: identityFile).identity,
    // The hosts of another version are hosts of other matches.
    game: GameVersion("counts", "1"), addresses: [address], region: "eu-west")
  // Players must name the same application.
  let me = PeerInfo(name: "counts in \(fleet.region)", application: "counts")
  try await hostCounts(in: fleet, as: me, on: loop)
}

/// A host of a fleet in a pod of Agones, which tells where players reach it. `run` runs its
/// matches.
func hostUnderAgones(
  _ sidecar: AgonesSidecar, as me: PeerInfo, port: UInt16 = 7777, on loop: NetworkLoop,
  in fleet: ([Endpoint]) -> FleetSettings, run: (Session, FleetMatches) async throws -> Void
) async throws {
  let endpoints = try await sidecar.findEndpoints(on: loop)
  let reporter = AgonesReporter(to: sidecar, seats: 64, on: loop) { print("Agones: \($0)") }
  try await Session.host(in: fleet(endpoints), as: me, port: port, seats: 64, loop: loop) {
    session, matches in
    await reporter.begin(session)
    try await run(session, matches)
  }
  await reporter.shutdown()
}
