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
    Lobby(makePeer(2), generator: SeededGenerator(seed: 1), at: now)
  }

  /// Accepts a stream and receives `bytes` on it.
  private func receive(_ bytes: [UInt8], in lobby: inout Lobby) {
    let id = lobby.makeConnectionID()
    let isAccepted = lobby.accept(id, at: now)
    #expect(isAccepted)
    lobby.receive(bytes.span, on: id, at: now)
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
    let sighting = Sighting(id: makePeer(3).id, status: .hosting, freeSeats: 1)
    lobby.handle(sighting, at: now)
    let dialed = try #require(poll(&lobby).dialed)
    let isNeeded = lobby.handleStreamConnected(dialed, at: now)
    #expect(isNeeded)
    receive(request, in: &lobby)
    #expect(lobby.matchmaker?.partner == nil, "the request is held")
    lobby.handleTimeout(at: now + .seconds(60))
    #expect(lobby.matchmaker?.partner == nil)
    let advertised = poll(&lobby)
    #expect(advertised.status == .waiting && advertised.seats == 1)
  }
}
