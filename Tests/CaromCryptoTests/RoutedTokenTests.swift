import CaromCore
import Testing

@testable import CaromCrypto

/// Tokens for hosts that a proxy finds by routing bytes.
struct RoutedTokenTests {
  private let backendKey = BackendKey(SecretBytes(repeating: 7))
  private let player = PeerID(high: 1, low: 2)
  private let proxy = Endpoint(.v4(0x0A00_0001), port: 7777)
  private let now = UnixTime(milliseconds: 1_000_000)

  private func makeToken(
    _ routing: DatagramRouting?, hosts: Int = 1, data: [UInt8] = [9]
  ) throws -> ConnectToken {
    var generator = SeededGenerator(seed: 1)
    return try ConnectToken(
      for: [Endpoint](repeating: proxy, count: hosts), routing: routing, player: player,
      lifetime: .seconds(30), data: data, key: backendKey, at: now, using: &generator)
  }

  private func makeDoorToken(
    _ doors: [RoutedEndpoint], data: [UInt8] = [9]
  ) throws -> ConnectToken {
    var generator = SeededGenerator(seed: 1)
    return try ConnectToken(
      asking: doors, player: player, lifetime: .seconds(30), data: data, key: backendKey, at: now,
      using: &generator)
  }

  @Test func `a token tells its player the routing, and its host nothing of it`() throws {
    let routing = try DatagramRouting.suffix([1, 2, 3])
    let (token, plain) = (try makeToken(routing, hosts: 2), try makeToken(nil, hosts: 2))
    #expect(token.bytes == Array("CRR1".utf8) + [1, 131, 1, 2, 3] + plain.bytes)
    #expect(token.ticketBytes == plain.ticketBytes && token != plain)
    let read = try ConnectToken(token.text)
    #expect(read == token && read.routing == routing && read.hosts == [proxy, proxy])
    #expect(read.bytes == token.bytes && read.key == plain.key)
    #expect(try ConnectToken(decoding: plain.bytes.span).routing == nil)
  }

  @Test func `each door has routing of its own, also if all are behind one proxy`() throws {
    let doors = [
      RoutedEndpoint(proxy, routing: try .prefix([1])), RoutedEndpoint(proxy),
      RoutedEndpoint(proxy, routing: try .prefix([2])),
    ]
    let token = try makeDoorToken(doors)
    #expect(token.bytes.prefix(10) == ArraySlice("CRR1".utf8 + [3, 1, 1, 0, 1, 2]))
    let read = try ConnectToken(decoding: token.bytes.span)
    #expect(read.doors == doors && read.routing == nil && read.isForDoors)
    let plain = try makeDoorToken([RoutedEndpoint(proxy)])
    #expect(plain.bytes.prefix(4) == ArraySlice("CRD1".utf8))
    #expect(plain.doors == [RoutedEndpoint(proxy)])
  }

  @Test func `the longest token is within the limit`() throws {
    let longest = try DatagramRouting.suffix([UInt8](repeating: 1, count: 32))
    let door = RoutedEndpoint(Endpoint(.v6(high: 1, low: 2, scope: 0), port: 1), routing: longest)
    let token = try makeDoorToken(
      [RoutedEndpoint](repeating: door, count: 6), data: [UInt8](repeating: 1, count: 256))
    #expect(token.bytes.count == 714 && 714 <= ConnectToken.maximumLength)
    #expect(try ConnectToken(token.text).doors.count == 6)
  }

  @Test func `routing that does not fit to the hosts is refused`() throws {
    let (join, ask) = (
      try makeToken(nil, hosts: 2).bytes, try makeDoorToken([.init(proxy), .init(proxy)]).bytes
    )
    let head = Array("CRR1".utf8)
    let rows: [([UInt8], [UInt8])] = [
      ([0], join), ([7, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], join), ([1, 0], join),
      ([2, 1, 1, 1, 1], join), ([1, 33], join), ([1, 128, 1], join), ([1, 1, 1], ask),
      ([2, 0, 0], ask), ([3, 1, 1, 1, 1, 1, 1], ask), ([], []), ([1, 1, 1], []),
    ]
    for (routing, token) in rows {
      #expect(throws: DecodeError.self, "\(routing)") {
        try ConnectToken(decoding: (head + routing + token).span)
      }
    }
    #expect(try ConnectToken(decoding: (head + [1, 1, 1] + join).span).routing?.bytes == [1])
    #expect(try ConnectToken(decoding: (head + [2, 1, 1, 0] + ask).span).doors.count == 2)
  }

  @Test func `nothing that is printed contains the routing bytes`() throws {
    let token = try makeToken(.suffix([201, 202, 203]))
    var dumped = ""
    dump(token, to: &dumped)
    #expect(!"\(token)".contains("202") && !dumped.contains("202"))
  }
}
