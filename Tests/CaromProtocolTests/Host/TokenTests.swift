import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// What spares a guest that comes again a round trip.
@Suite struct TokenTests {
  private let secret = HostSecret(low: 1, high: 2)
  private let address = IPAddress.v4(0x0A00_0002)
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func makeToken(_ serial: UInt64 = 0) -> AddressToken {
    AddressToken(serial: serial, for: address, secret: secret, at: now)
  }

  // MARK: One token

  @Test func `a token counts for a day, for its address and its maker`() {
    let token = makeToken()
    let last = now.advanced(byNanoseconds: AddressToken.lifetime - 1)
    for time in [now, last] {
      #expect(token.isValid(for: address, secret: secret, at: time))
    }
    #expect(!token.isValid(for: address, secret: secret, at: last.advanced(byNanoseconds: 1)))
    #expect(!token.isValid(for: .v4(0x0A00_0003), secret: secret, at: now))
    #expect(!token.isValid(for: .v6(high: 0, low: 0x0A00_0002, scope: 0), secret: secret, at: now))
    #expect(!token.isValid(for: address, secret: HostSecret(low: 1, high: 3), at: now))
  }

  @Test func `a token with another bit is none`() throws {
    let bytes = JoinToken(makeToken(), of: HostScript.hostWay.endpoint).bytes
    #expect(bytes.count == AddressToken.length)
    for bit in 0..<192 {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      let token = try #require(AddressToken(changed))
      #expect(!token.isValid(for: address, secret: secret, at: now), "bit \(bit)")
    }
    #expect(AddressToken(bytes + [0]) == nil && AddressToken(Array(bytes.dropLast())) == nil)
  }

  @Test func `each number counts once, and the newest alone`() {
    var book = IssuedTokens()
    #expect(!uses(&book, 0))
    for _ in 0...IssuedTokens.window { _ = book.issue() }
    #expect(!uses(&book, 0) && uses(&book, 1) && !uses(&book, 1))
    #expect(uses(&book, IssuedTokens.window) && !uses(&book, IssuedTokens.window + 1))
    _ = book.issue()
    #expect(!uses(&book, 1) && uses(&book, IssuedTokens.window + 1) && !uses(&book, .max))
  }

  private func uses(_ book: inout IssuedTokens, _ serial: UInt64) -> Bool { book.use(serial) }

  @Test func `the packet that brings it can be read, and is a guest's alone`() throws {
    let control = ControlPacket.token(makeToken())
    #expect(control.packet.payload.count == AddressToken.length)
    #expect(try ControlPacket(control.packet) == control)
    var short = control.packet
    short.payload.removeLast()
    #expect(throws: DecodeError.self) { try ControlPacket(short) }
    var pair = ConnectionPair.opened()
    pair.host.receive(control.packet.framed().span, at: pair.now)
    pair.settle()
    #expect(pair.hostEvents.endings == [.protocolViolation])
  }

  @Test func `where nobody is any more a token makes nobody wait`() {
    let way = HostScript.hostWay
    let key = ConnectionKey(prefix: 1, rest: 2)
    var caller = Connection.calling(as: makePeer(2), timing: SessionTiming(), key: key, at: now)
    caller.call([way], token: JoinToken(makeToken(), of: way.endpoint), at: now)
    caller.handleStreamFailed(at: now)
    var (time, lengths) = (now, [Int]())
    while !caller.isClosed, let due = caller.nextTimeout {
      var datagram: [UInt8] = []
      while caller.pollDatagram(into: &datagram, at: time) != nil {
        lengths.append(datagram.count)
        datagram.removeAll()
      }
      time = due
      caller.handleTimeout(at: time)
    }
    #expect(time == now + .seconds(1))
    #expect(lengths.first.map { $0 < 200 } == true && lengths.dropFirst().allSatisfy { $0 == 1200 })
  }

  // MARK: Strangers

  private func answers(to hello: Hello, _ host: inout Host, packet: [UInt8] = []) -> [[UInt8]] {
    var writer = FrameWriter(limit: 1500)
    hello.write(to: &writer)
    let bytes = writer.takeBytes() + packet
    host.receiveDatagram(bytes.span, from: HostScript.callerWay, at: now)
    var answers: [[UInt8]] = []
    while let answer = host.pollStatelessReply() {
      #expect(answer.bytes.count * 10 <= bytes.count * 3)
      answers.append(answer.bytes)
    }
    return answers
  }

  @Test func `a token that does not count is answered with little, and leaves nothing`() {
    var host = Host(makePeer(1), seats: 1, secret: secret)
    for serial in 0..<100 as Range<UInt64> {
      let hello = Hello(
        key: ConnectionKey(prefix: serial + 1, rest: 1), epoch: 1, resumes: false, cookie: nil,
        token: makeToken(serial))
      #expect(answers(to: hello, &host).map(\.count) == [17], "never given out")
    }
    #expect(host.connectionIDs.isEmpty && host.keys.isEmpty)
  }

  @Test func `a hello that comes twice is one connection, from elsewhere it is none`() {
    var host = Host(makePeer(1), seats: 1, secret: secret)
    let serial = host.tokens.issue()
    let key = ConnectionKey(prefix: 1, rest: 2)
    let hello = Hello(key: key, epoch: 1, resumes: false, cookie: nil, token: makeToken(serial))
    for _ in 0..<2 { #expect(answers(to: hello, &host).isEmpty) }
    #expect(host.connectionIDs.count == 1)
    let other = Hello(
      key: ConnectionKey(prefix: 1, rest: 3), epoch: 9, resumes: false, cookie: nil,
      token: makeToken(serial))
    #expect(answers(to: other, &host).count == 1)
    #expect(host.connectionIDs.count == 1)
  }
}
