import CaromCore
import CaromCrypto
import CaromPlacement
import CaromTransport

/// Finds a player's match in a fleet, and finds it again when its host dies: when the player has
/// heard nothing from the host for 2 seconds, the directory is asked where the match is, and gives
/// it another host if its own is gone.
///
/// This is for programs that may ask the directory and have the key of the fleet's connect tokens,
/// such as a matchmaker that plays by itself.
package actor FleetFollower: LoopActor {
  package enum Step: Hashable, Sendable {
    /// Join the host that the connect token names.
    case join(ConnectToken)
    /// The match is over, with this result.
    case over(result: [UInt8])
    /// The match cannot go on: no host could take it over for a minute, for this reason, or it
    /// never will. If there is no refusal, the directory has not answered.
    case giveUp(PlacementRefusal?)
  }

  package nonisolated let loop: NetworkLoop
  private let directory: FleetDirectory
  private let request: PlacementRequest
  private let player: PeerID
  private let key: BackendKey
  private let take: @Sendable (Step) -> Void
  private var machine: HostFailover
  /// The claim of the host at which the player is; nil if it is at none.
  private var claim: MatchClaim?
  private var timer: LoopTimer?
  private var generator: LoopGenerator

  /// Creates the follower of a player, who has a seat of its own in the match. `take` is called on
  /// the loop with each step of the player after it has joined.
  package init(
    _ player: PeerID, in match: MatchID, of game: GameVersion, near regions: [String] = [],
    directory: FleetDirectory, key: BackendKey, _ take: @escaping @Sendable (Step) -> Void
  ) {
    loop = directory.loop
    self.directory = directory
    self.player = player
    self.key = key
    self.take = take
    request = PlacementRequest(match, players: [player], game: game, near: regions)
    generator = LoopGenerator(of: loop)
    // The machine names the door to ask. Here the directory answers in place of all doors.
    machine = HostFailover(doors: [Endpoint(.any4, port: directory.address.port)], at: loop.now)
  }

  /// Places the match, or finds it if it has been placed, and returns the token with which the
  /// player joins it. From then on the player's host is watched.
  package func place() async throws(RedisError) -> Result<ConnectToken, PlacementRefusal> {
    switch try await directory.place(request) {
    case .failure(let refusal): return .failure(refusal)
    case .success(let placement):
      let token = try makeToken(placement)
      heard()
      return .success(token)
    }
  }

  /// Reports that something has come from the host, or that the player is joining it.
  package func heard() {
    if timer == nil { timer = LoopTimer(on: loop, owner: self) { $0.handleTimeout() } }
    machine.heard(at: loop.now)
    proceed()
  }

  /// Reports that the host has sent the player to another host with this token.
  package func moved(with token: ConnectToken) {
    claim = token.open(with: key).flatMap { try? MatchClaim(decoding: $0.data.span) }
    heard()
  }

  /// Reports that the player is at no host any more. The next answer of the directory therefore
  /// leads it to one, even if that is the same host.
  package func lostHost() { claim = nil }

  /// Stops watching.
  package func end() {
    timer?.cancel()
    timer = nil
  }

  private func handleTimeout() {
    machine.handleTimeout(at: loop.now)
    proceed()
  }

  private func proceed() {
    while let action = machine.pollAction() {
      switch action {
      case .ask: Task { await ask() }
      case .join(let bytes):
        if let token = try? ConnectToken(decoding: bytes.span) { take(.join(token)) }
      case .end(let result): take(.over(result: result))
      case .giveUp(let refusal): take(.giveUp(refusal))
      }
    }
    if let timeout = machine.nextTimeout { timer?.arm(at: timeout) } else { timer?.cancel() }
  }

  /// Asks the directory. While it is away, there is no answer, and the machine asks again.
  private func ask() async {
    guard let answer = try? await directory.answer(.locate(request.match, player: player)),
      let reply = try? reply(to: answer), timer != nil
    else { return }
    machine.handle(reply, at: loop.now)
    proceed()
  }

  private func reply(
    to answer: DirectoryAnswer
  ) throws(RedisError) -> HostFailover.DoorAnswer? {
    switch answer {
    case .placed(let placement) where placement.claim == claim: .stay
    case .placed(let placement): .moved(token: try makeToken(placement).bytes)
    case .over(let result): .over(result: result)
    case .refused(let refusal): .refused(refusal)
    default: nil
    }
  }

  private func makeToken(_ placement: Placement) throws(RedisError) -> ConnectToken {
    do throws(ConnectTokenError) {
      let token = try placement.token(
        for: player, key: key, at: UnixTime(milliseconds: WallClock.milliseconds),
        using: &generator)
      claim = placement.claim
      return token
    } catch {
      // The host has registered an endpoint to which nobody can connect.
      throw .malformed(.invalid(what: "endpoint of a host"))
    }
  }
}
