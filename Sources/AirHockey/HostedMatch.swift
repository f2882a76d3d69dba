import CaromCore
import CaromSimulation

/// The host's side of a table: the one authority, which decides each tick on time.
///
/// The host plays `home`, the guest `away`; others watch. Of what the guest claims only its inputs
/// count: where it wants its mallet, and what it asks for.
public struct HostedMatch: Sendable {
  /// How long a finished match stays on the table before the next begins: 3 s.
  public static let restTicks = 3 * Int64(Preset.ticksPerSecond)

  private var server: RollbackServer<Rink>
  /// The guest's number among those who watch.
  public private(set) var guest: Int?
  /// What home asks for, one a tick.
  private var requests: [RinkInput.Request] = []
  private var endedAt: Tick?
  private var writer = PacketWriter(capacity: 512)

  /// A table at which nobody plays yet.
  public init(at now: Instant) {
    server = RollbackServer(
      Rink(match: 0), players: 2, rate: Preset.ticksPerSecond, at: now)
  }

  /// The match as it stands.
  public var state: RinkState { server.game.state }
  /// When the next tick is due.
  public var nextTick: Instant { server.nextTick }
  /// How often the guest's input was not there in time.
  public var missedInputs: Int { server.missedInputs(of: 1) }

  /// How many ticks became due: `step` is to be called for each.
  public mutating func takeDueTicks(at now: Instant) -> Int { server.takeDueTicks(at: now) }

  /// Every decided tick of the last second or two.
  var broadcaster: RollbackBroadcaster<Rink> { server.broadcaster }

  // MARK: Who is there

  /// Somebody takes the away seat: a new match at 0-0, or, for the `same` guest as before, the old
  /// one, in which it holds nothing. Returns its number among those who watch.
  public mutating func seatGuest(same: Bool, at now: Instant) -> Int {
    dismissGuest()
    _ = server.takeDueTicks(at: now)  // nobody played in the meantime
    requests = []
    // The first thing that it sees is what this tick makes of the table.
    if same {
      server.setInput(RinkInput(nil, request: .resume), for: 1)
    } else {
      endedAt = nil
      server.setInput(RinkInput(nil, request: .restart), for: 0)
    }
    server.advance()
    let number = server.addPlayer(1)
    guest = number
    return number
  }

  /// The guest left.
  public mutating func dismissGuest() {
    if guest != nil { server.removePlayer(1) }
    guest = nil
  }

  /// Somebody begins to watch. Returns its number.
  public mutating func addSpectator() -> Int { server.addSpectator() }

  /// Somebody who only watched left.
  public mutating func removeSpectator(_ number: Int) { server.removeSpectator(number) }

  // MARK: Playing

  /// Home asks for something: it happens in a tick of its own.
  public mutating func ask(_ request: RinkInput.Request) { requests.append(request) }

  /// Makes one tick, with home's mallet going there; what happened in it.
  public mutating func step(home: MalletInput) -> [RinkEvent] {
    if isRested { requests.append(.startMatch) }
    let request = requests.isEmpty ? nil : requests.removeFirst()
    server.setInput(RinkInput(home, request: request), for: 0)
    server.advance()
    if case .matchEnd = state.phase { endedAt = endedAt ?? server.tick } else { endedAt = nil }
    return server.events
  }

  private var isRested: Bool {
    guard let endedAt, !state.isPaused else { return false }
    return endedAt.distance(to: server.tick) >= Self.restTicks
  }

  /// The last word of a session.
  public var ending: TableWord { .ended(match: state.match, state.score) }

  // MARK: Messages

  /// Takes a message of the guest or of somebody who watches. What is wrong with it throws.
  public mutating func receive(
    _ kind: RollbackMessage, _ bytes: Span<UInt8>, from watcher: Int, at now: Instant
  ) throws(DecodeError) { try server.receive(kind, bytes, from: watcher, at: now) }

  /// The inputs that a watcher has not acknowledged, for a way on which nothing is lost.
  public mutating func lastInputs(for watcher: Int) -> [UInt8]? {
    writer.removeAll()
    return server.writeInputs(for: watcher, into: &writer) ? writer.bytes : nil
  }

  /// The next message that is to be sent; `nil` when all is said until the next tick.
  public mutating func pollMessage() -> TableMessage? {
    writer.removeAll()
    guard let (watcher, kind) = server.pollTransmit(into: &writer) else { return nil }
    return TableMessage(watcher: watcher, kind: kind, bytes: writer.bytes)
  }
}
