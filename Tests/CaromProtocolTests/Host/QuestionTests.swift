import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// Questions of players with a door token (WireFormat, "Connect tokens"): they never have a seat.
@Suite struct QuestionTests {
  private let player = ConnectTokenTests.player
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let other = ConnectionKey(prefix: 3, rest: 4)

  private func makeDoorToken(
    _ seed: UInt64 = 5, key: BackendKey = ConnectTokenTests.makeKey()
  ) throws -> ConnectToken {
    var generator = SeededGenerator(seed: seed)
    return try ConnectToken(
      asking: [RoutedEndpoint(ConnectTokenTests.address)], player: player,
      lifetime: .seconds(180), data: [1, 2, 3], key: key, at: UnixTime(milliseconds: 0),
      using: &generator)
  }

  private func makePair(seats: Int = 4) throws -> DatagramPair {
    var pair = DatagramPair(
      ConnectTokenTests.makeReader(), client: try makeDoorToken(), as: player)
    if seats == 0 { pair.host.closeSeats() }
    return pair
  }

  private func questions(_ pair: DatagramPair) -> [ConnectionID] {
    pair.hostEvents.compactMap { if case .asked(let id, _) = $0 { id } else { nil } }
  }

  @Test(arguments: [0, 4])
  func `a host is asked, whether it has seats or not, and sends the player on`(
    seats: Int
  ) throws {
    var pair = try makePair(seats: seats)
    pair.connect(key)
    pair.exchange()
    guard case .asked(let id, let info)? = pair.hostEvents.last else {
      Issue.record("\(pair.hostEvents)")
      return
    }
    #expect(info.id == player && info.backendData == [1, 2, 3])
    #expect(pair.host.freeSeats == seats)
    // It is longer than what may be sent to an address that is not proven.
    let token = try ConnectTokenTests.makeToken(data: [UInt8](repeating: 1, count: 100))
    let next = NextHost(at: [Endpoint(.v4(0x0A00_0007), port: 1)], token: token)
    pair.host.close(id, Goodbye(movedTo: next), at: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.clientEvents.endings == [.moved(to: next)])
    #expect(pair.host.connectionIDs.isEmpty)
  }

  @Test func `a question cannot be given a seat`() throws {
    var pair = try makePair()
    pair.connect(key)
    pair.exchange()
    let id = try #require(questions(pair).first)
    pair.host.admit(id, at: pair.now)
    pair.exchange()
    #expect(!pair.host.isOpen(id) && !pair.client.isOpen(pair.id) && pair.host.freeSeats == 4)
  }

  @Test func `a player who asks its own host keeps its seat there`() throws {
    var pair = DatagramPair(
      ConnectTokenTests.makeReader(), client: try ConnectTokenTests.makeToken(), as: player)
    pair.connect(key)
    pair.exchange()
    let seated = try #require(pair.hostID)
    pair.setClient(try makeDoorToken(), as: player)
    pair.connect(other)
    pair.exchange()
    let id = try #require(questions(pair).first)
    pair.host.close(id, Goodbye(.busy), at: pair.now)
    pair.run(for: .milliseconds(100))
    #expect(pair.host.isOpen(seated) && pair.host.freeSeats == 3)
  }

  @Test func `a token of another key asks nothing`() throws {
    var pair = try makePair()
    pair.setClient(try makeDoorToken(key: ConnectTokenTests.makeKey(8)), as: player)
    pair.connect(key)
    pair.run(for: .seconds(1))
    #expect(pair.clientEvents.endings == [.tokenRefused(.notAuthentic)])
    #expect(pair.hostEvents.isEmpty && pair.host.tickets?.count == 0)
  }

  @Test func `a player asks again with the same token`() throws {
    var pair = try makePair()
    for number in 1...3 {
      pair.setClient(try makeDoorToken(), as: player)
      pair.connect(ConnectionKey(prefix: UInt64(number), rest: 7))
      pair.exchange()
      let id = try #require(questions(pair).last)
      pair.host.close(id, Goodbye(.busy), at: pair.now)
      pair.run(for: .seconds(1))
      #expect(questions(pair).count == number && pair.clientEvents.endings == [.busy])
    }
    #expect(pair.host.connectionIDs.isEmpty)
  }

  @Test func `a recorded first datagram asks nothing, neither soon nor later`() throws {
    var pair = try makePair()
    pair.connect(key)
    let datagram = try #require(pair.takeToHost().first)
    pair.deliverToHost(datagram)
    pair.exchange()
    #expect(questions(pair).count == 1)
    pair.deliverToHost(datagram)
    pair.deliverToHost(datagram, from: Route(Endpoint(.v4(0x0A00_0666), port: 666)))
    pair.exchange()
    #expect(questions(pair).count == 1)
    pair.host.close(try #require(questions(pair).first), Goodbye(.busy), at: pair.now)
    pair.run(for: .seconds(3))
    // The host has long forgotten the connection, but not the question.
    pair.host.endedKeys = []
    pair.deliverToHost(datagram)
    #expect(pair.host.connectionIDs.isEmpty && questions(pair).count == 1)
  }

  @Test func `a question on both links is one question`() throws {
    var pair = VirtualPair(
      seed: 3, links: [.both, .encrypted], load: Load(hertz: 60, ticks: 30),
      access: (.tickets(ConnectTokenTests.makeReader()), .token(try makeDoorToken())))
    try pair.world.run(for: .seconds(1))
    let asked = pair.hostPeer.events.filter { if case .asked = $0 { true } else { false } }
    #expect(asked.count == 1 && pair.hostPeer.openedAt == nil)
    #expect(pair.hostPeer.machine.tickets?.count == 1)
  }

  @Test func `a question that nobody answers ends by itself`() throws {
    var pair = try makePair()
    pair.connect(key)
    pair.run(for: .seconds(60))
    #expect(questions(pair).count == 1 && pair.host.connectionIDs.isEmpty)
    #expect(pair.client.connectionIDs.isEmpty)
  }
}
