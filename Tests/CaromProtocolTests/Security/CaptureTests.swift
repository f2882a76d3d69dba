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
    for peer in [pair.hostPeer, pair.clientPeer] {
      let secret = peer.machine.secret
      var hidden = ["\(secret.low)", "\(secret.high)", Self.code.text, "K7QM2XRT"]
      if let identity = peer.machine.side.security?.identity {
        hidden.append(
          identity.keys.secret.reveal().prefix(4).map { "\($0)" }.joined(separator: ", "))
      }
      if way == .token, case .token(let token)? = peer.machine.side.security?.access {
        hidden += [
          token.text, token.key.reveal().prefix(4).map { "\($0)" }.joined(separator: ", "),
        ]
      }
      for secret in hidden { #expect(!text.contains(secret)) }
    }
  }
}
