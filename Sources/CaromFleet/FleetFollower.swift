import CaromCore
import CaromCrypto
import CaromPlacement
import CaromProtocol
import CaromSession
import CaromTransport

/// Finds a player's match again when its host dies: when the player has heard nothing from the host
/// for 2 seconds, it asks a door of the fleet where the match is, and the next one a second later.
///
/// The player needs neither the directory nor a key: the host tells it the doors, with a token with
/// which it can ask. The doors have another host take the match over if its own is gone.
package actor FleetFollower: LoopActor {
  package enum Step: Hashable, Sendable {
    /// Join the host that the connect token names.
    case join(ConnectToken)
    /// The match is over.
    case over
    /// The match cannot go on: no host could take it over for a minute, for this reason, or it
    /// never will. If there is no refusal, no door has answered, or the player knows none.
    case giveUp(PlacementRefusal?)
  }

  /// How long a door may take to answer. The next one is asked before that.
  private static let answerLimit = Duration.seconds(3)

  package nonisolated let loop: NetworkLoop
  private let player: PeerInfo
  private let kinds: LinkKinds
  private let take: @Sendable (Step) -> Void
  private var machine: HostFailover
  /// The token with which the player asks; nil if it knows no door yet.
  private var doorToken: ConnectToken?
  /// The token of the host at which the player is; nil if it is at none.
  private var host: ConnectToken?
  /// Whether a door has said that the match is there, and nothing has come from the host since.
  private var wasToldToStay = false
  private var timer: LoopTimer?
  private var generator: LoopGenerator

  /// Creates the follower of a player, who asks over links of these kinds. `take` is called on the
  /// loop with each step of the player after it has joined.
  package init(
    _ player: PeerInfo, over kinds: LinkKinds = .all, on loop: NetworkLoop,
    _ take: @escaping @Sendable (Step) -> Void
  ) {
    self.loop = loop
    self.player = player
    self.kinds = kinds
    self.take = take
    generator = LoopGenerator(of: loop)
    machine = HostFailover(at: loop.now)
  }

  /// Reports that the player joins the host of a token, which it has from the matchmaker, or from
  /// the host that it leaves. From then on the player's host is watched.
  package func joins(with token: ConnectToken) {
    host = token
    heard()
  }

  /// Takes the door tokens of the host of a session, until the session ends.
  package func readDoors(of session: Session) async {
    for await message in session.messages(on: .doorTokens) { set(message.message.token) }
  }

  /// The doors that the player knows.
  package var doors: [RoutedEndpoint] { machine.doors }

  /// Whether the player has heard nothing from its host for so long that it asks the doors.
  package var isAsking: Bool { machine.isAsking }

  private func set(_ token: ConnectToken) {
    doorToken = token
    let doors = token.doors
    guard doors != machine.doors else { return }
    machine.setDoors(doors, startingWith: Int.random(in: doors.indices, using: &generator))
  }

  /// Reports that something has come from the host.
  package func heard() {
    if timer == nil { timer = LoopTimer(on: loop, owner: self) { $0.handleTimeout() } }
    wasToldToStay = false
    machine.heard(at: loop.now)
    proceed()
  }

  /// Reports that the player is at no host any more, or could not join one. The next answer of a
  /// door therefore leads it to one, even if that is the same host.
  package func lostHost() {
    host = nil
    machine.lost(at: loop.now)
    proceed()
  }

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
      case .ask(let door): Task { await ask(door) }
      case .join(let bytes):
        guard let token = try? ConnectToken(decoding: bytes.span) else { break }
        host = token
        take(.join(token))
      case .end: take(.over)
      case .giveUp(let refusal): take(.giveUp(refusal))
      }
    }
    if let timeout = machine.nextTimeout { timer?.arm(at: timeout) } else { timer?.cancel() }
  }

  /// Asks a door. If it does not answer, the machine asks the next one.
  private func ask(_ door: RoutedEndpoint) async {
    guard let doorToken, let reason = await goodbye(of: door, doorToken), timer != nil,
      let answer = HostFailover.DoorAnswer(reason)
    else { return }
    // When the second door says so, the host's process may be another one, which does not know of
    // the connection.
    let stays = isAtHost(of: answer) && !wasToldToStay
    wasToldToStay = stays
    machine.handle(stays ? .stay : answer, at: loop.now)
    proceed()
  }

  private func isAtHost(of answer: HostFailover.DoorAnswer) -> Bool {
    guard case .moved(let bytes) = answer, let host,
      let next = try? ConnectToken(decoding: bytes.span)
    else { return false }
    return next.hosts == host.hosts && next.routing == host.routing
  }

  /// Returns the reason with which a door ends the connection on which the player asks it; nil if
  /// it cannot be reached.
  private func goodbye(of door: RoutedEndpoint, _ token: ConnectToken) async -> DisconnectReason? {
    do {
      return try await Session.join(
        [door.endpoint], as: player, over: kinds, security: .token(token),
        within: Self.answerLimit,
        routing: door.routing.map { .bothWays($0) } ?? SessionRouting(), loop: loop
      ) { _, _ in nil }
    } catch SessionError.refused(let reason) { return reason } catch { return nil }
  }
}
