import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

@Suite struct LobbyTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let request = ControlPacket.request(
    version: SessionWire.version, .none, makePeer(1)
  ).packet.framed()

  private func makeLobby() -> Lobby {
    Lobby(matching: Host(makePeer(2), seats: 1), generator: SeededGenerator(seed: 1), at: now)
  }

  /// Accepts a stream and receives `bytes` on it.
  private func receive(_ bytes: [UInt8], in lobby: inout Lobby) {
    let id = lobby.makeConnectionID()
    let isAccepted = lobby.host.accept(id, at: now)
    #expect(isAccepted)
    lobby.receive(bytes.span, on: id, at: now)
  }

  /// Opens a stream to a peer that hosts. Returns the id of the connection.
  private func dial(_ peer: PeerInfo, from lobby: inout Lobby) throws -> ConnectionID {
    lobby.handle(Sighting(id: peer.id, status: .hosting, freeSeats: 1), at: now)
    let dialed = try #require(poll(&lobby).dialed)
    let isNeeded = lobby.handleStreamConnected(dialed, at: now)
    #expect(isNeeded)
    return dialed
  }

  /// Expects that a lobby sends a goodbye on a stream and closes it.
  private func expectGoodbye(on id: ConnectionID, of lobby: inout Lobby) {
    var sent: [UInt8] = []
    let isSent = lobby.host.pollTransmit(on: id, queued: 0, at: now) { sent += Array(copying: $0) }
    let goodbye = ControlPacket.goodbye(Goodbye(.left)).packet.framed()
    #expect(isSent && sent.suffix(goodbye.count) == goodbye[...])
    let action = lobby.host.pollLinkAction(on: id)
    #expect(action == .closeAfterFlush)
    lobby.didFlush(id, at: now)
    let remaining = lobby.connectionIDs
    #expect(!remaining.contains(id))
  }

  /// Removes the events of a lobby and returns the last advertised status, with the connection
  /// that it was last asked to open.
  private func poll(
    _ lobby: inout Lobby
  ) -> (status: Sighting.Status?, seats: Int?, dialed: ConnectionID?) {
    var result: (status: Sighting.Status?, seats: Int?, dialed: ConnectionID?) = (nil, nil, nil)
    while let event = lobby.pollEvent() {
      switch event {
      case .advertise(let status, let seats): (result.status, result.seats) = (status, seats)
      case .connect(_, let id): result.dialed = id
      default: break
      }
    }
    return result
  }

  @Test func `a lobby whose request arrives together with a goodbye keeps looking`() {
    var lobby = makeLobby()
    receive(request + ControlPacket.goodbye(Goodbye(.left)).packet.framed(), in: &lobby)
    #expect(lobby.matchmaker?.partner == nil)
    let advertised = poll(&lobby)
    #expect(advertised.status == .searching && advertised.seats == 1)
    receive(request, in: &lobby)
    #expect(lobby.matchmaker?.partner == makePeer(1).id)
  }

  @Test func `a lobby whose dial and held request time out together keeps looking`() throws {
    var lobby = makeLobby()
    _ = try dial(makePeer(3), from: &lobby)
    receive(request, in: &lobby)
    #expect(lobby.matchmaker?.partner == nil, "the request is held")
    lobby.handleTimeout(at: now + .seconds(60))
    #expect(lobby.matchmaker?.partner == nil)
    let advertised = poll(&lobby)
    #expect(advertised.status == .waiting && advertised.seats == 1)
  }

  @Test func `a dial that reaches another peer has failed, and its connection is closed`() throws {
    var lobby = makeLobby()
    let dialed = try dial(makePeer(3), from: &lobby)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(4)).packet.framed()
    lobby.receive(grant.span, on: dialed, at: now)
    #expect(lobby.matchmaker?.partner == nil)
    expectGoodbye(on: dialed, of: &lobby)
    #expect(poll(&lobby).dialed == nil)
    lobby.handleTimeout(at: now + Matchmaker.firstRetry * 2)
    #expect(poll(&lobby).dialed != nil, "peer 3 is dialed again after a pause")
  }

  @Test func `of two simultaneous connections, the higher id closes the one that it dialed`()
    throws
  {
    var lobby = makeLobby()
    let dialed = try dial(makePeer(1), from: &lobby)
    receive(request, in: &lobby)
    #expect(lobby.matchmaker?.partner == makePeer(1).id)
    expectGoodbye(on: dialed, of: &lobby)
    #expect(lobby.connectionIDs.count == 1)
  }

  @Test func `a connection that was abandoned is not needed any more, on either kind of link`()
    throws
  {
    var lobby = makeLobby()
    lobby.handle(Sighting(id: makePeer(3).id, status: .hosting, freeSeats: 1), at: now)
    let dialed = try #require(poll(&lobby).dialed)
    lobby.handleTimeout(at: now + Matchmaker.dialLimit)
    var events: [LobbyEvent] = []
    while let event = lobby.pollEvent() { events.append(event) }
    #expect(events.contains(.cancelConnect(dialed)))
    let later = now + Matchmaker.dialLimit
    let usesStream = lobby.handleStreamConnected(dialed, at: later)
    let usesDatagrams = lobby.connect(
      dialed, to: [Route(Endpoint(.loopback4, port: 1))], key: ConnectionKey(prefix: 1, rest: 2),
      at: later)
    #expect(!usesStream && !usesDatagrams)
    #expect(lobby.connectionIDs.isEmpty)
  }

  @Test func `a dial that has reached datagrams alone is closed when it is abandoned`() throws {
    var lobby = makeLobby()
    lobby.handle(Sighting(id: makePeer(3).id, status: .hosting, freeSeats: 1), at: now)
    let dialed = try #require(poll(&lobby).dialed)
    let isNeeded = lobby.connect(
      dialed, to: [Route(Endpoint(.loopback4, port: 1))], key: ConnectionKey(prefix: 1, rest: 2),
      at: now)
    #expect(isNeeded && lobby.connectionIDs == [dialed])
    lobby.handleTimeout(at: now + Matchmaker.dialLimit)
    var buffer: [UInt8] = []
    _ = lobby.host.pollDatagram(on: dialed, into: &buffer, at: now + Matchmaker.dialLimit)
    lobby.didFlush(dialed, at: now + Matchmaker.dialLimit)
    #expect(lobby.connectionIDs.isEmpty)
  }

  @Test func `a lobby that retires refuses everybody and dials nobody`() throws {
    var lobby = makeLobby()
    let dialed = try dial(makePeer(3), from: &lobby)
    receive(request, in: &lobby)
    lobby.retire(Goodbye(.left), at: now)
    #expect(lobby.matchmaker == nil)
    expectGoodbye(on: dialed, of: &lobby)
    lobby.handle(Sighting(id: makePeer(4).id, status: .hosting, freeSeats: 1), at: now)
    #expect(poll(&lobby).dialed == nil)
    receive(request, in: &lobby)
    var endings: [DisconnectReason] = []
    while let event = lobby.pollEvent() {
      if case .host(.closed(_, _, let reason, _)) = event { endings.append(reason) }
    }
    #expect(endings.last == .full)
  }
}
