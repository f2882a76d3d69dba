import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// Encrypted connections between peers of different versions. A peer of another version may not
/// encrypt, or not in the same way, so what it says about its version is in plaintext.
@Suite struct EncryptedVersionTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func makeSide(_ number: UInt64) -> (side: LocalSide, secrets: LinkSecrets) {
    var generator = SeededGenerator(seed: number)
    var security = LinkSecurity(using: &generator)
    let secrets = security.takeSecrets()
    return (LocalSide(makePeer(number), security: security), secrets)
  }

  private func makeClient() -> Connection {
    let (side, secrets) = makeSide(2)
    return .initiatingOnStream(as: side, secrets, at: now)
  }

  @Test(arguments: [
    ControlPacket.grant(version: 9, makePeer(1)), .goodbye(Goodbye(.versionMismatch, version: 9)),
    .handshake(version: 9, [1, 2, 3]),
  ])
  func `a client reports the version of a host that answers in plaintext`(
    answer: ControlPacket
  ) {
    var client = makeClient()
    client.receive(answer.packet.framed().span, at: now)
    #expect(pollEvents(&client) == [.closed(.versionMismatch(theirs: 9))])
  }

  @Test func `a client reports a host of its own version that does not encrypt`() {
    var client = makeClient()
    client.receive(
      ControlPacket.grant(version: SessionWire.version, makePeer(1)).packet.framed().span, at: now)
    #expect(pollEvents(&client) == [.closed(.securityMismatch)])
  }

  @Test func `a client is not sent to another host by a goodbye in plaintext`() {
    let moved = ControlPacket.goodbye(Goodbye(.moved)).packet.framed()
    var client = makeClient()
    client.receive(moved.span, at: now)
    #expect(pollEvents(&client) == [.closed(.securityMismatch)])
    // With keys, before the first encrypted body, where a host may refuse the attempt in plaintext.
    for code in [Goodbye.Code.full, .moved] {
      let (side, secrets) = makeSide(1)
      var (near, far) = (
        makeClient(), Connection.respondingOnStream(as: side, secrets, at: now)
      )
      for _ in 0..<2 {
        let request = near.pollStream(queued: 0, at: now) ?? []
        far.receive(request.span, at: now)
        let answer = far.pollStream(queued: 0, at: now) ?? []
        near.receive(answer.span, at: now)
      }
      near.receive(ControlPacket.goodbye(Goodbye(code)).packet.framed().span, at: now)
      let endings = pollEvents(&near).endings
      #expect(endings == [code == .full ? .full : .connectionReset])
    }
  }

  @Test func `a host tells a client of another version that does not encrypt its version`() {
    for version: UInt16 in [1, 9] {
      let (side, secrets) = makeSide(1)
      var host = Connection.respondingOnStream(as: side, secrets, at: now)
      let request = ControlPacket.request(
        version: version, ConnectionKey(prefix: 1, rest: 2), makePeer(2))
      host.receive(request.packet.framed().span, at: now)
      #expect(pollEvents(&host) == [.closed(.versionMismatch(theirs: version))])
      let answer = host.pollStream(queued: 0, at: now)
      #expect(answer == ControlPacket.goodbye(Goodbye(.versionMismatch)).packet.framed())
    }
  }

  @Test func `a plaintext hello of another version is refused because of its version`() throws {
    var pair = DatagramPair(isEncrypted: true)
    let cookie = Cookie(
      for: DatagramPair.clientRoute.endpoint, secret: pair.host.secret, at: pair.now)
    for (version, code) in [(UInt16(1), Goodbye.Code.versionMismatch), (2, .securityMismatch)] {
      let hello = Hello(
        version: version, key: ConnectionKey(prefix: 1, rest: 2), epoch: 1, resumes: false,
        cookie: cookie)
      var writer = FrameWriter(limit: Hello.paddedLength)
      hello.write(to: &writer)
      pair.deliverToHost(writer.takeBytes())
      let refusal = try #require(pair.takeToClient().last)
      #expect(refusal[0] == 0x82 && refusal[9] == code.rawValue)
    }
  }

  @Test func `a packet in plaintext does not end an open connection, whatever its version`() {
    var pair = DatagramPair.opened(isEncrypted: true)
    let isAdded = pair.client.handleStreamConnected(pair.id, at: pair.now)
    #expect(isAdded)
    pair.client.receive(
      ControlPacket.grant(version: 9, makePeer(1)).packet.framed().span, on: pair.id, at: pair.now)
    pair.drain()
    #expect(pair.client.isOpen(pair.id) && pair.clientEvents.endings.isEmpty)
  }
}
