import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Address tokens, which save a returning client one round trip.
@Suite struct TokenTests {
  private let secret = HostSecret(low: 1, high: 2)
  private let address = IPAddress.v4(0x0A00_0002)
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func makeToken(_ serial: UInt64 = 0) -> AddressToken {
    AddressToken(serial: serial, for: address, secret: secret, at: now)
  }

  // MARK: One token

  @Test func `a token is valid for one day, for its address and at the host that issued it`() {
    let token = makeToken()
    let last = now + .seconds(86_400)
    for time in [now, last] {
      #expect(token.isValid(for: address, secret: secret, at: time))
    }
    #expect(!token.isValid(for: address, secret: secret, at: last.advanced(byNanoseconds: 1)))
    #expect(!token.isValid(for: .v4(0x0A00_0003), secret: secret, at: now))
    #expect(!token.isValid(for: .v6(high: 0, low: 0x0A00_0002, scope: 0), secret: secret, at: now))
    #expect(!token.isValid(for: address, secret: HostSecret(low: 1, high: 3), at: now))
  }

  @Test func `a token with one changed bit is invalid`() throws {
    let bytes = JoinToken(makeToken(), of: HostScript.hostRoute.endpoint).bytes
    #expect(bytes.count == AddressToken.length)
    for bit in 0..<192 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      let token = try #require(AddressToken(changed))
      #expect(!token.isValid(for: address, secret: secret, at: now), "bit \(bit)")
    }
    #expect(AddressToken(bytes + [0]) == nil && AddressToken(Array(bytes.dropLast())) == nil)
  }

  @Test func `each serial number is valid once, and only within the newest window`() {
    var tokens = IssuedTokens()
    #expect(!uses(&tokens, 0))
    for _ in 0...IssuedTokens.window { _ = tokens.issue() }
    #expect(!uses(&tokens, 0) && uses(&tokens, 1) && !uses(&tokens, 1))
    #expect(uses(&tokens, IssuedTokens.window) && !uses(&tokens, IssuedTokens.window + 1))
    _ = tokens.issue()
    #expect(!uses(&tokens, 1) && uses(&tokens, IssuedTokens.window + 1) && !uses(&tokens, .max))
  }

  private func uses(_ tokens: inout IssuedTokens, _ serial: UInt64) -> Bool { tokens.use(serial) }

  @Test func `a token packet decodes, and a host that receives one closes the connection`() throws {
    let control = ControlPacket.token(makeToken())
    #expect(control.packet.payload.count == AddressToken.length)
    #expect(try ControlPacket(control.packet) == control)
    var short = control.packet
    short.payload.removeLast()
    #expect(throws: DecodeError.self) { try ControlPacket(short) }
    var pair = ConnectionPair.opened()
    pair.host.receive(control.packet.framed().span, at: pair.now)
    pair.exchange()
    #expect(pair.hostEvents.endings == [.protocolViolation])
  }

  @Test func `a token for a host that is gone does not delay the failure`() {
    let route = HostScript.hostRoute
    let key = ConnectionKey(prefix: 1, rest: 2)
    var initiator = Connection.initiating(
      as: LocalSide(makePeer(2)), key: key, at: now)
    initiator.connect(to: [route], token: JoinToken(makeToken(), of: route.endpoint), at: now)
    initiator.handleStreamFailed(at: now)
    var (time, lengths) = (now, [Int]())
    while !initiator.isClosed, let due = initiator.nextTimeout {
      var datagram: [UInt8] = []
      while initiator.pollDatagram(into: &datagram, at: time) != nil {
        lengths.append(datagram.count)
        datagram.removeAll()
      }
      time = due
      initiator.handleTimeout(at: time)
    }
    #expect(time == now + .seconds(1))
    #expect(lengths.first.map { $0 < 200 } == true && lengths.dropFirst().allSatisfy { $0 == 1200 })
  }

  // MARK: Unknown senders

  private func replies(to hello: Hello, _ host: inout Host, packet: [UInt8] = []) -> [[UInt8]] {
    var writer = FrameWriter(limit: 1500)
    hello.write(to: &writer)
    let bytes = writer.takeBytes() + packet
    host.receiveDatagram(bytes.span, from: HostScript.initiatorRoute, at: now)
    var replies: [[UInt8]] = []
    while let reply = host.pollStatelessReply() {
      #expect(reply.bytes.count * 10 <= bytes.count * 3)
      replies.append(reply.bytes)
    }
    return replies
  }

  @Test func `an invalid token gets a short reply and leaves no state`() {
    var host = Host(makePeer(1), seats: 1, secret: secret)
    for serial in 0..<100 as Range<UInt64> {
      let hello = Hello(
        key: ConnectionKey(prefix: serial + 1, rest: 1), epoch: 1, resumes: false, cookie: nil,
        token: makeToken(serial))
      #expect(replies(to: hello, &host).map(\.count) == [17], "the token was never issued")
    }
    #expect(host.connectionIDs.isEmpty && host.keys.isEmpty)
  }

  @Test func `a repeated hello is one connection, and its token is rejected for another key`() {
    var host = Host(makePeer(1), seats: 1, secret: secret)
    let serial = host.tokens.issue()
    let key = ConnectionKey(prefix: 1, rest: 2)
    let hello = Hello(key: key, epoch: 1, resumes: false, cookie: nil, token: makeToken(serial))
    for _ in 0..<2 { #expect(replies(to: hello, &host).isEmpty) }
    #expect(host.connectionIDs.count == 1)
    let other = Hello(
      key: ConnectionKey(prefix: 1, rest: 3), epoch: 9, resumes: false, cookie: nil,
      token: makeToken(serial))
    #expect(replies(to: other, &host).count == 1)
    #expect(host.connectionIDs.count == 1)
  }
}
