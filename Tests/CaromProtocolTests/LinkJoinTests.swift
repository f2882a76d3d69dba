import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// Links that come to a host one after the other, by their bytes.
@Suite struct LinkJoinTests {
  private let now = Instant(nanoseconds: 1_000_000_000)
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private let caller = Way(Endpoint(.loopback4, port: 1_000), socket: 0)

  private func encode(_ hello: Hello) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    return writer.takeBytes()
  }

  /// Says hello, and says it again with the cookie that came back.
  private func sayHello(
    to host: inout Host, version: UInt16 = Hello.version, resumes: Bool = false
  ) throws {
    var hello = Hello(version: version, key: key, epoch: 1, resumes: resumes, cookie: nil)
    host.receiveDatagram(encode(hello).span, from: caller, at: now)
    let said = host.pollAnswer()
    let answer = try #require(said)
    var reader = PacketReader(answer.bytes.span)
    guard case .retry(let retry) = try SessionDatagram(decoding: &reader) else {
      Issue.record("a retry answers a hello without a cookie")
      return
    }
    hello.cookie = retry.cookie
    host.receiveDatagram(encode(hello).span, from: caller, at: now)
  }

  @Test func `a request on a stream counts while that of the datagrams is late`() throws {
    var host = Host(makePeer(1), seats: 1)
    try sayHello(to: &host)
    let silence = host.pollEvent()
    #expect(silence == nil)
    let path = try #require(host.links.first)
    let link = host.makeLink()
    _ = host.accept(link, at: now)
    let request = ControlPacket.request(version: SessionWire.version, key, makePeer(2))
    host.receive(request.packet.framed().span, on: link, at: now)
    let events = [host.pollEvent(), host.pollEvent()]
    #expect(events == [.adopted(link, by: path), .requested(path, makePeer(2), replacing: nil)])
    host.admit(path, at: now)
    let sent = host.pollTransmit(on: path, queued: 0, at: now)
    let grant = ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed()
    #expect(sent?.starts(with: grant) == true)
  }

  @Test(arguments: [(1, false, Goodbye.Code.versionMismatch), (2, true, .left)])
  func `a hello that finds nothing is told why`(
    version: UInt16, resumes: Bool, code: Goodbye.Code
  ) throws {
    var host = Host(makePeer(1), seats: 1)
    try sayHello(to: &host, version: version, resumes: resumes)
    let said = host.pollAnswer()
    let answer = try #require(said)
    var reader = PacketReader(answer.bytes.span)
    let gone = try SessionDatagram(decoding: &reader)
    #expect(gone == .gone(Gone(keyPrefix: key.prefix, reason: code.rawValue)))
    #expect(host.links.isEmpty)
  }

  @Test func `what a full stream has no room for waits without a deadline`() throws {
    var path = StreamPath(limit: 4_096)
    var channels = ChannelSet()
    path.join()
    path.didReceive(bytes: 10, elicits: true, at: now)
    let later = now + .milliseconds(50)
    #expect(path.nextTimeout == later)
    try path.handleTimeout(at: later)
    var buffer: [UInt8] = []
    let full = SessionLink.pieceLength
    let fits = path.pollTransmit(queued: full, &channels, carries: true, into: &buffer, at: later)
    #expect(!fits && path.owesAcknowledgement && path.nextTimeout == nil)
    let leaves = path.pollTransmit(queued: 0, &channels, carries: true, into: &buffer, at: later)
    #expect(leaves && !path.owesAcknowledgement)
  }
}
