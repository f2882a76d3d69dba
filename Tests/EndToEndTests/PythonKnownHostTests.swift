import Carom
import CaromCrypto
import Testing

/// Clients that know the host's key beforehand, or believe to know it. One side is the peer in
/// Python, the other a session.
@Suite(.turns, .enabled(if: PythonPeer.python != nil, "python3 is not on the PATH"))
struct PythonKnownHostTests {
  private static let transports: [(name: String, kinds: LinkKinds)] = [
    ("udp", .datagram), ("tcp", .stream), ("both", .all),
  ]

  private func makeInfo() -> PeerInfo {
    PeerInfo(
      id: .random(), name: "Session", application: "airhockey", applicationVersion: 4)
  }

  @Test(arguments: transports, [true, false])
  func `a host written from the page answers those who know its key, and those who know another`(
    transport: (name: String, kinds: LinkKinds), isRight: Bool
  ) async throws {
    let host = try PythonPeer.start([
      "127.0.0.1", "0", "--serve", "--security", "anyone", "--transport", transport.name,
    ])
    let line = await host.output.line { $0.hasPrefix("port ") }
    let port = try #require(line?.split(separator: " ").last.flatMap { UInt16($0) })
    let text = await host.output.line { $0.hasPrefix("key ") }?.split(separator: " ").last
    let key = try #require(text.flatMap { PublicKey($0) })
    try await withNetworkLoop { loop in
      try await Session.join(
        [Endpoint(.loopback4, port: port)], as: makeInfo(), over: transport.kinds,
        security: .anyone, hostKey: isRight ? key : Identity.random().publicKey, loop: loop
      ) { _, peer in
        let security = await peer.security
        #expect(security?.publicKey == key)
        #expect(security?.protection.handshake == (isRight ? .ik : .xx))
      }
    }
    let summary = try await host.summary()
    #expect(summary["violations"] as? [String] == [])
    #expect(summary["endReason"] as? String == "finished")
    #expect(summary["handshakes"] as? [String] == [isRight ? "IK" : "XX"])
  }

  @Test(arguments: transports, [true, false])
  func `a client written from the page begins with the host's key, or with another one`(
    transport: (name: String, kinds: LinkKinds), isRight: Bool
  ) async throws {
    let identity = Identity.random()
    let key = isRight ? identity.publicKey : Identity.random().publicKey
    try await Session.host(
      as: makeInfo(), on: [.loopback4], over: transport.kinds, security: .anyone(as: identity),
      loops: 1
    ) { session, port in
      let client = try PythonPeer.start([
        "127.0.0.1", "\(port)", "--security", "anyone", "--host-key", "\(key)", "--transport",
        transport.name,
      ])
      for await event in session.events {
        guard case .joined(let peer) = event else { continue }
        #expect(peer.protection.handshake == (isRight ? .ik : .xx))
        await peer.kick()
        break
      }
      let summary = try await client.summary()
      #expect(summary["violations"] as? [String] == [])
      // A stream that arrives after the end is told that the connection is forgotten.
      let reasons = transport.name == "both" ? ["kicked", "forgotten"] : ["kicked"]
      let reason = summary["endReason"].map { "\($0)" } ?? "none"
      #expect(reasons.contains(reason))
      #expect(summary["handshakes"] as? [String] == [isRight ? "IK" : "XX"])
    }
  }
}
