import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// How a lobby answers requests for its seat, and what it reports about them.
@Suite struct LobbyRequestTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  /// A lobby, and what it has reported.
  private struct LobbyLog {
    var lobby: Lobby
    var endings: [ConnectionID: DisconnectReason] = [:]
    var opened: [ConnectionID] = []
    var advertised: [Sighting.Status] = []
    var dialed: ConnectionID?

    mutating func poll() {
      while let event = lobby.pollEvent() {
        switch event {
        case .advertise(let status, let seats):
          advertised.append(status)
          #expect(seats == (status == .playing ? 0 : 1))
        case .connect(_, let id): dialed = id
        case .host(.closed(let id, _, let reason, _)): endings[id] = reason
        case .host(.connection(let id, .opened)): opened.append(id)
        default: break
        }
      }
    }
  }

  private func makeHost() -> LobbyLog {
    let lobby = Lobby(
      matching: Host(makePeer(2), seats: 1), generator: SeededGenerator(seed: 1), at: now)
    var host = LobbyLog(lobby: lobby)
    host.poll()
    return host
  }

  private func request(from peer: UInt64) -> [UInt8] {
    ControlPacket.request(version: SessionWire.version, .none, makePeer(peer)).packet.framed()
  }

  /// Accepts a stream and receives `bytes` on it.
  private func receive(_ bytes: [UInt8], in host: inout LobbyLog, at time: Instant) -> ConnectionID
  {
    let id = host.lobby.makeConnectionID()
    let isAccepted = host.lobby.host.accept(id, at: time)
    #expect(isAccepted)
    host.lobby.receive(bytes.span, on: id, at: time)
    host.poll()
    return id
  }

  /// The goodbye that a lobby sends on a stream; nil if there is none.
  private func goodbye(on id: ConnectionID, of host: inout LobbyLog) throws -> Goodbye.Code? {
    var sent: [UInt8] = []
    _ = host.lobby.host.pollTransmit(on: id, queued: 0, at: now) { sent += Array(copying: $0) }
    var decoder = FrameDecoder()
    decoder.receive(sent.span, at: now)
    var code: Goodbye.Code?
    while let body = try decoder.next() {
      let packet = try ControlPacket(try Packet(decoding: body.span))
      if case .goodbye(let goodbye)? = packet { code = goodbye.code }
    }
    return code
  }

  @Test func `a lobby without a dial admits the first request, and refuses others as full`() throws
  {
    var host = makeHost()
    let first = receive(request(from: 1), in: &host, at: now)
    #expect(host.opened == [first] && host.advertised == [.searching, .playing])
    #expect(host.lobby.matchmaker?.partner == makePeer(1).id)
    let second = receive(request(from: 3), in: &host, at: now)
    #expect(host.endings == [second: .full])
    #expect(try goodbye(on: second, of: &host) == .full)
    let isOpen = [first, second].map { host.lobby.isOpen($0) }
    #expect(isOpen == [true, false])
  }

  @Test func `a held request is refused as busy after two seconds, and another one is held then`()
    throws
  {
    var host = makeHost()
    host.lobby.handle(Sighting(id: makePeer(3).id, status: .hosting, freeSeats: 1), at: now)
    host.poll()
    let held = receive(request(from: 1), in: &host, at: now)
    #expect(host.endings.isEmpty && host.lobby.nextTimeout == now + .seconds(2))
    // The only seat is reserved meanwhile.
    let refused = receive(request(from: 4), in: &host, at: now + .seconds(1))
    #expect(host.endings == [refused: .full])
    host.lobby.handleTimeout(at: now + .seconds(2))
    host.poll()
    #expect(host.endings == [refused: .full, held: .busy])
    #expect(try goodbye(on: held, of: &host) == .busy)
    // The dial fails: the request that is held then is admitted.
    let later = receive(request(from: 4), in: &host, at: now + .seconds(2))
    #expect(host.opened == [])
    let dialed = try #require(host.dialed)
    host.lobby.handleStreamFailed(dialed, at: now + .milliseconds(2_500))
    host.poll()
    #expect(host.opened == [later] && host.lobby.matchmaker?.partner == makePeer(4).id)
  }

  @Test func `a held request whose peer has gone is not admitted`() throws {
    var host = makeHost()
    host.lobby.handle(Sighting(id: makePeer(3).id, status: .hosting, freeSeats: 1), at: now)
    host.poll()
    let held = receive(request(from: 1), in: &host, at: now)
    host.lobby.handleLinkEnd(.reset, of: held, at: now)
    host.poll()
    #expect(host.endings.keys.contains(held))
    host.lobby.handleStreamFailed(try #require(host.dialed), at: now)
    host.poll()
    #expect(host.opened == [] && host.lobby.matchmaker?.partner == nil)
    #expect(host.advertised == [.searching])
    // Another request is then admitted at once.
    let next = receive(request(from: 1), in: &host, at: now)
    #expect(host.opened == [next])
  }

  @Test func `after a match the lobby advertises its seat again, and admits another peer`() throws {
    var host = makeHost()
    let first = receive(request(from: 1), in: &host, at: now)
    // The end of another connection does not end the match.
    let other = receive(request(from: 3), in: &host, at: now)
    host.lobby.handleLinkEnd(.reset, of: other, at: now)
    host.poll()
    #expect(host.lobby.matchmaker?.partner == makePeer(1).id)
    host.lobby.close(first, Goodbye(.left), at: now + .seconds(1))
    host.poll()
    #expect(host.advertised == [.searching, .playing, .searching])
    #expect(host.lobby.matchmaker?.partner == nil && host.endings[first] == .closedLocally)
    let next = receive(request(from: 4), in: &host, at: now + .seconds(7))
    #expect(host.opened == [first, next] && host.advertised.last == .playing)
  }

  @Test func `a dial that succeeds refuses the held requests, and begins the match`() throws {
    var host = makeHost()
    host.lobby.handle(Sighting(id: makePeer(3).id, status: .hosting, freeSeats: 1), at: now)
    host.poll()
    let dialed = try #require(host.dialed)
    let isNeeded = host.lobby.handleStreamConnected(dialed, at: now)
    let held = receive(request(from: 1), in: &host, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(3)).packet.framed()
    host.lobby.receive(grant.span, on: dialed, at: now)
    host.poll()
    #expect(isNeeded && host.opened == [dialed] && host.endings == [held: .full])
    #expect(host.lobby.matchmaker?.partner == makePeer(3).id)
    #expect(host.advertised == [.searching, .playing])
  }

  @Test func `a lobby without a matchmaker reports requests, and its owner answers them`() {
    var lobby = Lobby(Host(makePeer(2), seats: 2, spectatorSeats: 1))
    let id = lobby.makeConnectionID()
    let isAccepted = lobby.host.accept(id, at: now)
    lobby.receive(request(from: 1).span, on: id, at: now)
    var requested: [ConnectionID] = []
    while let event = lobby.pollEvent() {
      if case .host(.requested(let id, _, _)) = event { requested.append(id) }
    }
    let wasOpen = lobby.isOpen(id)
    lobby.admit(id, at: now)
    let isOpen = lobby.isOpen(id)
    #expect(isAccepted && requested == [id] && !wasOpen && isOpen && lobby.matchmaker == nil)
    // Without a matchmaker every connection is needed.
    let other = lobby.makeConnectionID()
    let isNeeded = lobby.handleStreamConnected(other, at: now)
    #expect(isNeeded && lobby.connectionIDs == [id, other])
  }
}
