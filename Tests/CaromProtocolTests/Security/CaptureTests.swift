import CaromCore
import CaromCrypto
import CaromTesting
import Testing

@testable import CaromProtocol

/// What somebody finds who records everything that two peers send each other, from the first hello
/// to the goodbye, and what a dump of their state shows.
@Suite struct CaptureTests {
  private static let code = try! JoinCode("K7QM-2XRT")

  /// How the two peers protect their connection.
  enum Way: CaseIterable {
    case plaintext, anyone, knownHost, code, token
  }

  private func makePair(_ way: Way, _ links: VirtualPeer.Links) throws -> VirtualPair {
    let access: (LinkAccess, LinkAccess) =
      switch way {
      case .code:
        (.code(Self.code, isForOneUse: false), .code(Self.code, isForOneUse: false))
      case .token:
        (
          .tickets(ConnectTokenTests.makeReader()), .token(try ConnectTokenTests.makeToken())
        )
      default: (.anyone, .anyone)
      }
    return VirtualPair(
      seed: 3, links: way == .plaintext ? links : links.union(.encrypted),
      load: Load(hertz: 60, ticks: 120), access: access, knowsHost: way == .knownHost,
      recordsArrivals: true)
  }

  private func bytes(of id: PeerID) -> [UInt8] {
    var writer = PacketWriter()
    writer.writeBigEndian(id.high)
    writer.writeBigEndian(id.low)
    return writer.bytes
  }

  @Test(arguments: Way.allCases, [VirtualPeer.Links.datagram, .stream, .both])
  func `a capture of a whole match contains no name, no id and no goodbye`(
    way: Way, links: VirtualPeer.Links
  ) throws {
    var pair = try makePair(way, links)
    #expect(try pair.runLoad(for: .seconds(10)))
    pair.world.withNode(of: pair.host) { node, network in
      node.close(Goodbye(.kicked, text: "a reason to go"), in: &network)
    }
    try pair.world.run(for: .seconds(3))
    #expect(pair.clientPeer.endings == [.kicked("a reason to go")])
    let heard = (pair.hostPeer.heard ?? []) + (pair.clientPeer.heard ?? [])
    #expect(heard.count > 100)
    let secrets = [
      Array("peer on".utf8), Array("a reason to go".utf8),
      bytes(of: pair.hostPeer.machine.local.id),
      bytes(of: pair.clientPeer.machine.local.id),
    ]
    for secret in secrets {
      #expect(heard.contains { $0.contains(secret) } == (way == .plaintext))
    }
  }

  @Test(arguments: Way.allCases)
  func `a dump of both sides, and a trace of what they send, show no secret`(way: Way) throws {
    var pair = try makePair(way, .both)
    pair.world.network.trace = Trace()
    #expect(try pair.runLoad(for: .seconds(10)))
    var text = ""
    for peer in [pair.hostPeer, pair.clientPeer] {
      dump(peer.machine.side, to: &text)
      dump(peer.machine.secret, to: &text)
      if let connection = peer.connection {
        dump(connection.secrets, to: &text)
        dump(connection.datagram?.keys, to: &text)
        dump(connection.datagram?.packetKeys, to: &text)
        dump(connection.stream, to: &text)
      }
      text += "\(peer.events)\(peer.endings)"
    }
    text += (pair.world.network.trace?.lines ?? []).joined(separator: "\n")
    #expect(text.count > 1_000)
    let numbers = Self.numbers(in: text)
    for peer in [pair.hostPeer, pair.clientPeer] {
      let secret = peer.machine.secret
      var hidden = ["\(secret.low)", "\(secret.high)", Self.code.text, "K7QM2XRT"]
      var bytes: [[UInt8]] = []
      if let identity = peer.machine.side.security?.identity {
        bytes.append(identity.keys.secret.reveal())
      }
      if way == .token, case .token(let token)? = peer.machine.side.security?.access {
        hidden.append(token.text)
        bytes.append(token.key.reveal())
      }
      if let tag = peer.connection?.secrets?.refusalTag {
        var writer = PacketWriter()
        tag.encode(into: &writer)
        bytes.append(writer.bytes)
        var reader = PacketReader(writer.bytes.span)
        let word: UInt64 = try reader.read()
        hidden.append("\(word)")
      }
      for secret in hidden { #expect(!text.contains(secret)) }
      for secret in bytes { #expect(!numbers.contains(Self.numbers(of: secret))) }
    }
  }

  @Test func `a join token and the tag of a refusal are not shown`() throws {
    var pair = VirtualPair(seed: 3, links: [.datagram, .encrypted])
    try pair.world.run(for: .seconds(2))
    let token = try #require(pair.clientPeer.token)
    let tag = try #require(pair.clientPeer.connection?.secrets?.refusalTag)
    #expect("\(token)" == "join token for \(token.host)" && "\(tag)" == "authentication tag")
    var writer = PacketWriter()
    writer.write(token.bytes)
    tag.encode(into: &writer)
    var reader = PacketReader(writer.bytes.span)
    var text = ""
    dump(ConnectionEvent.invited(token), to: &text)
    dump(tag, to: &text)
    for _ in 0..<5 {
      // Small numbers occur in every text.
      let word: UInt64 = try reader.read()
      if word > 1 << 32 { #expect(!text.contains("\(word)")) }
    }
  }

  @Test(arguments: Way.allCases)
  func `a dump at any moment of a handshake shows no secret`(way: Way) throws {
    guard way != .plaintext else { return }
    var pair = try makePair(way, .both)
    var moments = 0
    while moments < 1_000 {
      var text = ""
      var bytes: [[UInt8]] = []
      for peer in [pair.hostPeer, pair.clientPeer] {
        for id in peer.machine.connectionIDs {
          guard let connection = peer.machine.connection(id) else { continue }
          dump(connection.datagram?.handshake, to: &text)
          dump(connection.stream?.handshake, to: &text)
          dump(connection.secrets, to: &text)
          for handshake in [connection.datagram?.handshake, connection.stream?.handshake] {
            guard let handshake else { continue }
            moments += 1
            text += "\(handshake.noise)"
            if let own = handshake.noise.ephemeralKey { bytes.append(own.secret.reveal()) }
            if let shared = handshake.noise.presharedKey { bytes.append(shared.reveal()) }
          }
        }
        if let own = peer.machine.side.security?.identity {
          bytes.append(own.keys.secret.reveal())
        }
      }
      let numbers = Self.numbers(in: text)
      for secret in bytes { #expect(!numbers.contains(Self.numbers(of: secret))) }
      guard pair.clientPeer.openedAt == nil else { break }
      try pair.world.run(for: .microseconds(100))
    }
    #expect(moments > 3 && pair.clientPeer.openedAt != nil)
  }

  /// The numbers in a text, each between commas, whether they stand in a row or one a line.
  private static func numbers(in text: String) -> String {
    let digits = text.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return "," + digits.map { String(Substring($0)) }.joined(separator: ",") + ","
  }

  /// The first bytes of a secret as `numbers(in:)` finds them.
  private static func numbers(of secret: [UInt8]) -> String {
    "," + secret.prefix(6).map { "\($0)" }.joined(separator: ",") + ","
  }
}
