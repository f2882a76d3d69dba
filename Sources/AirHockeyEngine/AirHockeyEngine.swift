import AirHockey
import CaromCore
import CaromPhysics
import CaromProtocol
import CaromSimulation
import WebEngine

/// Air hockey for a page in a browser: one match at a time, without a network or as the client of a
/// host. The page passes it the time, what its link has received and where the fingers are; it
/// polls it for what to send, draw and play. The page calls it through the functions in the files
/// `Exports.swift` of this module and of WebEngine.
package final class AirHockeyEngine {
  // One of the two, or none.
  private var local: LocalMatch?
  private var network: NetworkMatch?
  private var targets = SeatValues<MalletInput?>(nil, nil)

  /// Creates an engine without a match.
  package init() {}

  // MARK: Matches

  /// Begins a match without a network. A computer player of the given strength has each seat for
  /// which one is given; people at the page have the others. The seed determines how the computer
  /// plays.
  package func start(home: Strength?, away: Strength?, seed: UInt64, at now: Instant) {
    (network, targets) = (nil, SeatValues(nil, nil))
    local = LocalMatch(
      home: home.map { ComputerPlayer(.home, strength: $0, seed: seed) },
      away: away.map { ComputerPlayer(.away, strength: $0, seed: seed &+ 1) }, at: now)
  }

  /// Prepares to join a host, as soon as the page has opened a link to it, at a table with the
  /// given number, or at any if it is 0. A spectator watches the match without playing. The player
  /// keeps `id` for as long as a host should know the player again. A name that is longer than the
  /// protocol allows is cut.
  package func join(
    as id: PeerID, name: String, table: UInt16 = 0, isSpectator: Bool = false, at now: Instant
  ) {
    (local, targets) = (nil, SeatValues(nil, nil))
    network = NetworkMatch(
      id, name: name.asPlayerName, table: table, isSpectator: isSpectator, at: now)
  }

  /// The name of the host, or an empty string while it is not known.
  package var hostName: String { network?.hostName ?? "" }

  /// The names of home and away in a match over the network; empty while they are not known.
  package var playerNames: SeatValues<String> { network?.names ?? SeatValues("", "") }

  /// The host's explanation for the end of the connection; empty if it gave none.
  package var endText: String {
    switch network?.endReason {
    case .declined(let text), .kicked(let text): text
    default: ""
    }
  }

  // MARK: The link

  /// Begins a link that the page has opened. Returns whether the engine uses it.
  package func openLink(at now: Instant) -> Bool { network?.openLink(at: now) ?? false }

  /// Receives bytes from the link.
  package func receive(_ bytes: Span<UInt8>, at now: Instant) { network?.receive(bytes, at: now) }

  /// Handles the end of the link, or the failure to open it.
  package func closeLink(_ end: LinkEnd, at now: Instant) { network?.closeLink(end, at: now) }

  /// Says goodbye to the host.
  package func leave(_ goodbye: Goodbye = Goodbye(.left), at now: Instant) {
    network?.leave(goodbye, at: now)
  }

  /// Removes and returns up to `limit` of the bytes to send on the link, on which `queued` bytes
  /// wait.
  package func takeOutput(upTo limit: Int, queued: Int, at now: Instant) -> [UInt8] {
    network?.takeOutput(upTo: limit, queued: queued, at: now) ?? []
  }

  /// Removes and returns what to do with the link once the output has been taken, or nil.
  package func takeLinkAction() -> LinkAction? { network?.takeLinkAction() }

  /// The time at which `step(at:)` has to be called at the latest to keep the connection, or nil.
  package var nextTimeout: Instant? { network?.nextTimeout }

  // MARK: Datagrams

  /// Begins to use a datagram link that the page has opened. Returns whether the engine uses it.
  package func openDatagrams(at now: Instant) -> Bool {
    network?.openDatagrams(at: now) ?? false
  }

  /// Receives a datagram.
  package func receiveDatagram(_ bytes: Span<UInt8>, at now: Instant) {
    network?.receiveDatagram(bytes, at: now)
  }

  /// Removes and returns the next datagram to send, or no bytes if there is none.
  package func takeDatagram(at now: Instant) -> [UInt8] { network?.takeDatagram(at: now) ?? [] }

  /// Handles the end of the datagram link.
  package func closeDatagrams(at now: Instant) { network?.closeDatagrams(at: now) }

  /// The kind of the link that carries messages now, or nil if no link can.
  package var messageLink: LinkKind? { network?.messageLink }

  // MARK: Playing

  /// Sets where a person wants a mallet, in meters from the center of the table.
  package func setTarget(_ target: Vector, of seat: Seat) { targets[seat] = MalletInput(target) }

  /// Makes a request on behalf of a seat; in a match over the network, on behalf of this player.
  package func add(_ request: RinkInput.Request, of seat: Seat) {
    local?.add(request, of: seat)
    network?.add(request)
  }

  /// Handles the timeouts that are due, and plays the ticks that are. Returns their number.
  @discardableResult
  package func step(at now: Instant) -> Int {
    if let network { return network.step(towards: targets, at: now) }
    return local?.step(towards: targets, at: now) ?? 0
  }

  /// Removes and returns the next event, or nil if there is none.
  package func pollEvent() -> EngineEvent? {
    network?.events.popFirst() ?? local?.events.popFirst()
  }

  // MARK: State

  /// Returns what the page draws at `now`.
  package func state(at now: Instant) -> EngineState {
    if let network { return network.state(at: now) }
    var state = EngineState()
    state.rink = local?.shown(at: now)
    return state
  }

  /// The number of ticks after which the state is certain, and the hash of that state; nil without
  /// a match.
  package var confirmed: (tick: UInt64, hash: UInt64)? {
    (network?.confirmed ?? local?.rink).map { ($0.state.tick.rawValue, $0.hash) }
  }

  // MARK: The page

  /// What the functions of every game call.
  package var page: PageEngine {
    var page = PageEngine()
    page.openLink = { self.openLink(at: $0) }
    page.receive = { self.receive($0.span, at: $1) }
    page.closeLink = { self.closeLink($0, at: $1) }
    page.openDatagrams = { self.openDatagrams(at: $0) }
    page.receiveDatagram = { self.receiveDatagram($0.span, at: $1) }
    page.takeDatagram = { self.takeDatagram(at: $0) }
    page.closeDatagrams = { self.closeDatagrams(at: $0) }
    page.messageLink = { self.messageLink }
    page.leave = { self.leave($0, at: $1) }
    page.takeOutput = { self.takeOutput(upTo: $0, queued: $1, at: $2) }
    page.takeLinkAction = { self.takeLinkAction() }
    page.nextTimeout = { self.nextTimeout }
    page.step = { self.step(at: $0) }
    page.pollEvent = { self.pollEvent()?.bytes }
    page.hostName = { self.hostName }
    page.endText = { self.endText }
    page.confirmed = { self.confirmed }
    return page
  }
}
