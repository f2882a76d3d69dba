import CaromCore
import Testing

@testable import CaromProtocol

/// Datagrams of unknown, of ended and of other connections (WireFormat, "Datagrams").
@Suite struct HostDatagramTests {
  @Test(arguments: [29: [], 30: [9]])
  func `a data packet from an unknown address is answered if it has at least 30 bytes`(
    length: Int, answers: [Int]
  ) {
    var pair = DatagramPair()
    pair.deliverToHost([0x10] + [UInt8](repeating: 0, count: length - 1))
    #expect(pair.takeToClient().map(\.count) == answers)
  }

  @Test func `a late hello of a connection that has ended is refused with code 11`() throws {
    var pair = DatagramPair()
    pair.connect(ConnectionKey(prefix: 0x0807_0605_0403_0201, rest: 2))
    for hello in pair.takeToHost() { pair.deliverToHost(hello) }
    for retry in pair.takeToClient() { pair.deliverToClient(retry) }
    let hello = try #require(pair.takeToHost().first)
    #expect(try #require(DataPacket(hello)?.hello).cookie != nil)
    pair.deliverToHost(hello)
    pair.exchange()
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.hostEvents.endings == [.left] && pair.host.connectionIDs.isEmpty)
    pair.deliverToHost(hello)
    #expect(pair.takeToClient() == [[0x82, 1, 2, 3, 4, 5, 6, 7, 8, 11]])
    #expect(pair.host.connectionIDs.isEmpty)
  }

  @Test func `a refusal counts only if it contains the first half of the connection's key`() {
    var pair = DatagramPair.opened()
    pair.deliverToClient([0x82, 2, 0, 0, 0, 0, 0, 0, 0, 11])
    #expect(pair.client.connection(pair.id)?.isOpen == true)
    pair.deliverToClient([0x82, 1, 0, 0, 0, 0, 0, 0, 0, 11])
    #expect(pair.clientEvents.endings == [.connectionReset])
  }

  /// WireFormat, Starting and moving a path, step 4. A refusal contains no version.
  @Test(
    arguments: [
      (3, .full), (6, .versionMismatch(theirs: 0)), (11, .connectionReset),
    ] as [(UInt8, DisconnectReason)])
  func `a client whose hello is refused learns the reason`(code: UInt8, reason: DisconnectReason) {
    var pair = DatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for hello in pair.takeToHost() { pair.deliverToHost(hello) }
    for retry in pair.takeToClient() { pair.deliverToClient(retry) }
    #expect(!pair.takeToHost().isEmpty)
    #expect(pair.clientEvents.isEmpty)
    pair.deliverToClient([0x82, 1, 0, 0, 0, 0, 0, 0, 0, code])
    #expect(pair.clientEvents.endings == [reason])
  }

  @Test(arguments: [true, false])
  func `a connection to the address of an ended one uses datagrams`(wasOpen: Bool) {
    var pair = DatagramPair()
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    if wasOpen { pair.exchange() } else { _ = pair.takeToHost() }
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.clientEvents.endings == [.closedLocally] && pair.client.connectionIDs.isEmpty)
    #expect(pair.client.paths.count == 0 && pair.host.paths.count == 0)
    pair.connect(ConnectionKey(prefix: 3, rest: 4))
    pair.exchange()
    #expect(pair.client.connection(pair.id)?.isOpen == true)
  }

  /// WireFormat, Session packets over datagrams.
  @Test func `a connection that is ending makes room for another from the same address`() throws {
    var pair = DatagramPair.opened()
    pair.host.close(try #require(pair.hostID), Goodbye(.finished), at: pair.now)
    pair.drain()
    #expect(!pair.takeToClient().isEmpty, "the goodbye is lost")
    pair.client = Host(makePeer(2), seats: 0)
    pair.connect(ConnectionKey(prefix: 3, rest: 4))
    pair.exchange()
    #expect(pair.client.connection(pair.id)?.isOpen == true)
    #expect(pair.host.connectionIDs.count == 1)
  }

  @Test func `an owner that reads late gets the messages of a peer that has left`() throws {
    var pair = DatagramPair.opened()
    pair.hostReads = false
    let id = try #require(pair.hostID)
    let messages: [[UInt8]] = [[1], [2], [3]]
    for message in messages { try pair.client.send(message, on: 0, to: pair.id, at: pair.now) }
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(2))
    #expect(pair.hostEvents.endings == [.left] && pair.host.connectionIDs.isEmpty)
    pair.readHostMessages(on: id)
    #expect(pair.hostMessages == messages)
    pair.readHostMessages(on: id)
    #expect(pair.hostMessages == messages, "each message is delivered once")
  }

  @Test func `reading sends credit at once, without another packet from the peer`() throws {
    var pair = DatagramPair.opened()
    pair.hostReads = false
    let id = try #require(pair.hostID)
    // With the 64 bytes of its charge, the message takes a quarter of the credit.
    let message = [UInt8](repeating: 7, count: 65_536 - 64)
    try pair.client.send(message, on: 5, to: pair.id, at: pair.now)
    pair.run(for: .seconds(2))
    pair.readHostMessages(on: id)
    #expect(pair.hostMessages == [message])
    pair.drain()
    let frames = pair.takeToClient().compactMap { DataPacket($0)?.frames }
    #expect(frames == [[.credit(5, 262_144 + 65_536)]])
  }
}
