import CaromCore
import Testing

@testable import CaromProtocol

/// The times at which a datagram path sends hellos and pings (WireFormat, "Starting and moving a
/// path").
@Suite struct DatagramPathTimeTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)

  private func makeRoute(_ port: UInt16, on address: IPAddress = .loopback4) -> Route {
    Route(Endpoint(address, port: port))
  }

  /// The times in milliseconds, and the ports, of everything that a path sends until `limit`.
  private func sent(_ path: inout DatagramPath, until limit: Duration) -> [[Int]] {
    var channels = ChannelSet()
    var scratch = Scratch()
    var outcome = DatagramPath.Outcome()
    var result: [[Int]] = []
    var time = now
    while let due = path.findTimeout(hasPending: false, hasUrgent: false), due <= now + limit {
      time = max(time, due)
      path.handleTimeout(&outcome, at: time)
      while let route = path.pollTransmit(
        &channels, carriesMessages: false, &scratch, at: time)
      { result.append([Int((time - now).inMilliseconds), Int(route.endpoint.port)]) }
    }
    return result
  }

  @Test func `hellos are repeated after delays that grow by half, to one second`() {
    var path = DatagramPath.initiating([makeRoute(1)], key: key, at: now)
    #expect(
      sent(&path, until: .seconds(5)).map { $0[0] }
        == [0, 200, 500, 950, 1_625, 2_625, 3_625, 4_625])
  }

  @Test func `each round of hellos goes to all addresses, one each 50 ms`() {
    var path = DatagramPath.initiating((1...3).map { makeRoute($0) }, key: key, at: now)
    #expect(
      sent(&path, until: .seconds(2)) == [
        [0, 1], [50, 2], [100, 3], [300, 1], [350, 2], [400, 3], [700, 1], [750, 2], [800, 3],
        [1_250, 1], [1_300, 2], [1_350, 3],
      ])
  }

  @Test func `a path that connects again begins with the address that had answered`() {
    let routes = (1...3).map { makeRoute($0) }
    var path = DatagramPath.initiating(routes, key: key, at: now)
    _ = sent(&path, until: .milliseconds(60))
    let retry = Retry(cookie: Cookie(bits: 1)!, keyPrefix: key.prefix)
    path.handleRetry(retry, from: makeRoute(9), at: now)
    path.reconnect([makeRoute(2), makeRoute(4)], at: now)
    #expect(path.epoch == 2)
    #expect(sent(&path, until: .milliseconds(200)).map { $0[1] } == [9, 1, 2, 3, 4])
  }

  @Test func `a path that connects again sends its hellos as often as a new one`() {
    var path = DatagramPath.initiating([makeRoute(1)], key: key, at: now)
    _ = sent(&path, until: .seconds(5))
    path.reconnect(at: now + .seconds(10))
    #expect(
      sent(&path, until: .seconds(14)).map { $0[0] }
        == [10_000, 10_200, 10_500, 10_950, 11_625, 12_625, 13_625])
  }

  @Test func `after 1.25 s of silence a path is pinged each 50 ms`() throws {
    var client = Connection.initiating(
      as: LocalSide(makePeer(2)), key: key, at: now)
    client.connect(to: [makeRoute(1)], at: now)
    client.datagram?.handleRetry(
      Retry(cookie: Cookie(bits: 1)!, keyPrefix: key.prefix), from: makeRoute(1), at: now)
    // The responder's first packet, which contains nothing.
    client.receiveDatagram([0x50, 0, 0].span, at: now)
    var path = try #require(client.datagram)
    #expect(path.stage == .validated)
    var outcome = DatagramPath.Outcome()
    path.isPingDue = false
    for milliseconds in [1_249, 1_250, 1_299, 1_300, 1_350] {
      path.handleTimeout(&outcome, at: now + .milliseconds(milliseconds))
      #expect(path.isPingDue == ![1_249, 1_299].contains(milliseconds), "\(milliseconds)")
      path.isPingDue = false
    }
  }

  @Test func `a token that is not answered within 0.2 s is given up, and the epoch grows`() throws {
    let host = makeRoute(1)
    let token = try #require(AddressToken((1...24).map { $0 }))
    var path = DatagramPath.initiating(
      [makeRoute(3), host], key: key, token: JoinToken(token, of: host.endpoint), at: now)
    #expect(path.route == host && path.stage == .validating && path.epoch == 1)
    #expect(!path.hasFoundPeer)
    #expect(sent(&path, until: .milliseconds(199)) == [])
    let timeout = path.findTimeout(hasPending: false, hasUrgent: false)
    #expect(timeout == now + .milliseconds(200))
    #expect(sent(&path, until: .milliseconds(260)) == [[200, 3], [250, 1]])
    #expect(path.stage == .connecting && path.epoch == 2 && path.token == nil)
  }

  @Test func `an initiator into whose path everything vanishes sends hellos as well`() throws {
    var pair = DatagramPair.opened()
    pair.run(for: .seconds(1))
    try pair.client.send([7], on: 0, to: pair.id, at: pair.now)
    pair.run(for: .seconds(2), delivers: false)
    let up = pair.takeToHost()
    let hellos = up.compactMap { bytes -> Hello? in
      var reader = PacketReader(bytes.span)
      guard case .hello(let hello) = try? SessionDatagram(decoding: &reader) else { return nil }
      #expect(bytes.count == 1_200)
      return hello
    }
    #expect(hellos.count > 2)
    #expect(hellos.allSatisfy { $0 == Hello(key: pair.key, epoch: 1, resumes: true, cookie: nil) })
    #expect(up.compactMap(DataPacket.init).count > 3)
    let down = pair.takeToClient().compactMap(DataPacket.init)
    #expect(!down.isEmpty && down.allSatisfy { $0.hello == nil }, "only initiators send hellos")
  }

  @Test func `after the grant, hellos say that the connection exists`() {
    var pair = DatagramPair.opened()
    let other = Route(Endpoint(.v4(0x0A00_0009), port: 9))
    pair.client.connect(pair.id, to: [other], key: pair.key, at: pair.now)
    pair.drain()
    let bytes = pair.takeToHost().first ?? []
    var reader = PacketReader(bytes.span)
    let hello = Hello(key: pair.key, epoch: 2, resumes: true, cookie: nil)
    let datagram = try? SessionDatagram(decoding: &reader)
    #expect(datagram == .hello(hello))
  }

  @Test(arguments: [(IPAddress.loopback4, true), (.v4(0x0A00_0001), false)])
  func `an initiator that moves to another host's address is measured again`(
    address: IPAddress, keeps: Bool
  ) {
    func hello(_ epoch: UInt32) -> Hello {
      Hello(key: key, epoch: epoch, resumes: false, cookie: Cookie(bits: 1))
    }
    var path = DatagramPath.responding(to: hello(1), from: makeRoute(1), at: now)
    path.measureRoundTrip(at: now)
    let other = makeRoute(2, on: address)
    path.handleHello(hello(2), from: other, at: now + .milliseconds(30))
    #expect(path.route == other && path.isPingDue)
    #expect(path.flow.roundTrip.hasSample == keeps)
  }
}
