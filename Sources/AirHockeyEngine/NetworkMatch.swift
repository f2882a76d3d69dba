import AirHockey
import CaromCore
import CaromPhysics
import CaromProtocol
import CaromSimulation
import WebEngine

/// A match against the host's player or another client, or a match that this side watches, with the
/// rules of the game above those of any match: which seat this side has, when it ends, and how
/// corrections are drawn.
final class NetworkMatch {
  /// The game's protocol: application `airhockey`, version 4.
  static let application = "airhockey"
  /// The version of the game's messages.
  static let version: UInt16 = 4
  /// The channel of the game's own messages.
  static let noticeChannel: UInt8 = 2
  /// The number of desyncs after which the host is assumed to run another version of the game.
  static let desyncLimit = 8

  /// What has happened since the last poll.
  var events = EventList<EngineEvent>()
  /// The number of desyncs with the host.
  private(set) var desyncs = 0
  private var client: PageClient<Rink>
  private var requests: [RinkInput.Request] = []
  /// The names of the players, as far as the host has sent them; empty for a seat without a player.
  private(set) var names = SeatValues("", "")
  /// The final score that the host has sent, or nil if it has not.
  private var finalScore: Score?
  private var view = RinkView()
  private var keyframes = 0
  /// How far the match has come, as far as the notices of `client` say; `waiting` also when it has
  /// a state. `PageClient.linkState` says the same, but would be read from a copy of the client.
  private var link = LinkState.connecting
  private let isSpectator: Bool

  /// Creates a match of the player or spectator `name`, whose id is kept from one visit of the page
  /// to the next, at the given table; 0 if the host is to choose one.
  init(_ id: PeerID, name: String, table: UInt16, isSpectator: Bool, at now: Instant) {
    self.isSpectator = isSpectator
    var generator = SystemRandomNumberGenerator()
    var local = PeerInfo(
      id: id, name: name, application: Self.application, applicationVersion: Self.version,
      isSpectator: isSpectator)
    local.match = table
    client = PageClient(
      local, key: ConnectionKey(using: &generator), channels: (inputs: 0, control: 1), at: now)
  }

  // MARK: The connection

  /// Begins a link. Returns whether the connection uses it.
  func openLink(at now: Instant) -> Bool {
    defer { handleNotices(at: now) }
    return client.openStream(at: now)
  }

  /// Receives bytes from the link.
  func receive(_ bytes: Span<UInt8>, at now: Instant) {
    client.receive(bytes, at: now)
    handleNotices(at: now)
  }

  /// Handles the end of the link, or the failure to open it.
  func closeLink(_ end: LinkEnd, at now: Instant) {
    client.closeStream(end, at: now)
    handleNotices(at: now)
  }

  /// Begins to use a datagram link that the page has opened. Returns whether the connection uses
  /// it.
  func openDatagrams(at now: Instant) -> Bool {
    defer { handleNotices(at: now) }
    return client.openDatagrams(at: now)
  }

  /// Receives a datagram.
  func receiveDatagram(_ bytes: Span<UInt8>, at now: Instant) {
    client.receiveDatagram(bytes, at: now)
    handleNotices(at: now)
  }

  /// Removes and returns the next datagram to send, or no bytes if there is none.
  func takeDatagram(at now: Instant) -> [UInt8] {
    defer { handleNotices(at: now) }
    return client.takeDatagram(at: now)
  }

  /// Handles the end of the datagram link.
  func closeDatagrams(at now: Instant) {
    client.closeDatagrams(at: now)
    handleNotices(at: now)
  }

  /// The kind of the link that carries messages now, or nil if no link can.
  var messageLink: LinkKind? { client.messageLink }

  /// Says goodbye to the host.
  func leave(_ goodbye: Goodbye, at now: Instant) {
    client.leave(goodbye, at: now)
    handleNotices(at: now)
  }

  /// Removes and returns up to `limit` of the bytes to send on the link, on which `queued` bytes
  /// wait.
  func takeOutput(upTo limit: Int, queued: Int, at now: Instant) -> [UInt8] {
    defer { handleNotices(at: now) }
    return client.takeOutput(upTo: limit, queued: queued, at: now)
  }

  /// Removes and returns what to do with the link once the output has been taken, or nil.
  func takeLinkAction() -> LinkAction? { client.takeLinkAction() }

  /// The time at which `step` has to be called at the latest to keep the connection, or nil.
  var nextTimeout: Instant? { client.nextTimeout }

  /// The reason why the connection has ended, or nil while it has not.
  var endReason: DisconnectReason? { client.endReason }

  /// The name of the host, or an empty string before it has granted a seat.
  var hostName: String { client.peer?.name ?? "" }

  private func handleNotices(at now: Instant) {
    checkKeyframes(at: now)
    while let notice = client.pollNotice() { handle(notice, at: now) }
  }

  private func handle(_ notice: PageClient<Rink>.Notice, at now: Instant) {
    switch notice {
    case .joined:
      link = .waiting
      events.append(.joined)
    case .interrupted:
      link = .interrupted
      events.append(.interrupted)
    case .resumed:
      link = .waiting
      events.append(.resumed)
    case .reconnect: events.append(.reconnect)
    case .desynced:
      desyncs += 1
      if desyncs > Self.desyncLimit { client.reject(at: now) }
    case .message(let channel, let bytes): receive(bytes, on: channel, at: now)
    case .left(let reason):
      link = .ended
      reportEvents()
      if let finalScore { events.append(.finalScore(finalScore)) }
      events.append(.left(EndCode(reason)))
    }
  }

  /// Takes a notice of the host, which sends nothing after the final score.
  private func receive(_ bytes: [UInt8], on channel: UInt8, at now: Instant) {
    guard channel == Self.noticeChannel, finalScore == nil,
      let notice = try? MatchNotice(decoding: bytes.span)
    else { return client.reject(at: now) }
    switch notice {
    case .finish: client.reject(at: now)
    case .ended(_, let score): finalScore = score
    case .playing(let home, let away):
      names = SeatValues(home, away)
      events.append(.playersChanged)
    }
  }

  /// Checks each new keyframe: the host must have given a player a seat, and a spectator none.
  private func checkKeyframes(at now: Instant) {
    guard client.client.keyframeCount > keyframes, let rollback = client.client.rollback else {
      return
    }
    keyframes = client.client.keyframeCount
    let isPlayable =
      (seat == nil) == isSpectator && client.client.rate == Preset.ticksPerSecond
      && rollback.state.state.tick == rollback.tick
    if !isPlayable { client.reject(at: now) }
  }

  // MARK: Playing

  /// The seat that the host has given to this side, or nil before that.
  var seat: Seat? {
    switch client.client.player {
    case 0: .home
    case 1: .away
    default: nil
    }
  }

  /// Adds a request of the player. One is carried out in a tick.
  func add(_ request: RinkInput.Request) { requests.append(request) }

  /// Handles the timeouts that are due, and plays the ticks that are. Returns their number.
  /// `targets` are where the page wants the mallets, of which only this player's counts; nil leaves
  /// it where it is.
  func step(towards targets: SeatValues<MalletInput?>, at now: Instant) -> Int {
    client.receive(at: now)
    handleNotices(at: now)
    var ticks = 0
    while client.isTickDue {
      advance(towards: targets, at: now)
      ticks += 1
    }
    handleNotices(at: now)
    return ticks
  }

  private func advance(towards targets: SeatValues<MalletInput?>, at now: Instant) {
    guard let state = client.client.state?.state, let tick = client.client.rollback?.tick else {
      client.advance(with: RinkInput(), at: now)
      return
    }
    var input = RinkInput()
    if let seat {
      let isRequestDue = !requests.isEmpty && !client.client.isInputPending
      let request = isRequestDue ? requests.removeFirst() : nil
      input = RinkInput(
        targets[seat] ?? MalletInput(state[mallet: seat].vector), request: request)
    }
    client.advance(with: input, at: now)
    if let corrected = client.client.rollback?.state(at: tick)?.state, corrected != state {
      view.correct(from: state, to: corrected, at: now)
    }
    reportEvents()
  }

  /// Reports touches as soon as they are predicted, since a late sound is worse than a wrong one,
  /// and everything else when it is certain.
  private func reportEvents() {
    while let next = client.pollEvent() {
      switch next {
      case .predicted(.touch(let touches, let impact), _):
        events.append(.game(.touch(touches, impact: impact)))
      case .confirmed(.touch, _), .predicted, .retracted: break
      case .confirmed(let event, _): events.append(.game(event))
      }
    }
  }

  // MARK: State

  /// Returns what to draw at `now`. Corrections glide.
  func state(at now: Instant) -> EngineState {
    var state = EngineState()
    state.rink = shown(at: now)
    state.link = link == .waiting && state.rink != nil ? .playing : link
    state.seat = seat
    state.roundTrip = client.client.roundTrip == .zero ? nil : client.client.roundTrip
    state.predictedTicks = client.client.predictedTicks
    state.inputDelay = client.client.currentInputDelay
    state.desyncs = desyncs
    return state
  }

  private func shown(at now: Instant) -> RinkState? {
    guard let state = client.client.state?.state, let tick = client.client.rollback?.tick else {
      return nil
    }
    let before = tick.rawValue > 0 ? tick.advanced(by: -1) : tick
    let previous = client.client.rollback?.state(at: before)?.state ?? state
    let fraction = client.client.fraction(at: now)
    return view.shown(
      state.drawn(from: previous, fraction, people: seat.map { [$0] } ?? []), at: now)
  }

  /// The state after the last tick that is certain, or nil before the first state.
  var confirmed: Rink? { client.client.confirmedState }
}
