import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// Secrets are gone from memory once nothing needs them, so that an attacker who later gets into
/// the program cannot decrypt what was recorded before. Their bytes are overwritten when the last
/// reference to them is released.
@Suite struct KeyLifetimeTests {
  /// References to keys that do not keep them in memory.
  private final class Watch {
    weak var sending: TransportKey.Memory?
    weak var receiving: TransportKey.Memory?

    init(_ sending: TransportKey?, _ receiving: TransportKey?) {
      (self.sending, self.receiving) = (sending?.memory, receiving?.memory)
    }

    /// How many of the keys are in memory.
    var count: Int { (sending == nil ? 0 : 1) + (receiving == nil ? 0 : 1) }
  }

  private func makeSeed(_ number: UInt64) -> SecretBytes {
    var generator = SeededGenerator(seed: number)
    return SecretBytes(random: SecretSource.length, using: &generator)
  }

  private func makeHost(_ seed: SecretBytes) -> Host {
    var generator = SeededGenerator(seed: 1)
    return Host(
      makePeer(1), seats: 1, security: LinkSecurity(Identity(using: &generator), seed: seed))
  }

  @Test func `a host forgets its seed as soon as it has made a secret`() {
    weak var seed: SecretBytes?
    var host: Host
    do {
      let bytes = makeSeed(1)
      seed = bytes
      host = makeHost(bytes)
    }
    #expect(seed != nil)
    _ = host.makeSecrets()
    #expect(seed == nil)
  }

  private func watch(_ path: DatagramPath?) -> Watch {
    Watch(path?.packetKeys?.sending, path?.packetKeys?.receiving)
  }

  @Test func `the first keys of a datagram path are gone three round trips after their change`()
    throws
  {
    var limits = KeyLimits()
    limits.lifetime = .seconds(10)
    var pair = DatagramPair(isEncrypted: true, keyLimits: limits)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.exchange()
    let id = try #require(pair.hostID)
    let watches = [
      watch(pair.host.connection(id)?.datagram),
      watch(pair.client.connection(pair.id)?.datagram),
    ]
    #expect(watches.map(\.count) == [2, 2])
    pair.run(for: .seconds(9))
    #expect(watches.map(\.count) == [2, 2])
    pair.run(for: .seconds(4))
    #expect(pair.client.connection(pair.id)?.datagram?.packetKeys?.changes == 1)
    #expect(watches.map(\.count) == [0, 0])
  }

  @Test(
    arguments: [[.stream, .encrypted], [.stream, .datagram, .encrypted]] as [VirtualPeer.Links])
  func `the first keys of a stream are gone once both sides have changed theirs`(
    links: VirtualPeer.Links
  ) throws {
    var limits = KeyLimits()
    limits.lifetime = .seconds(10)
    var pair = VirtualPair(seed: 5, links: links, keyLimits: limits)
    try pair.world.run(for: .seconds(5))
    let watches = [pair.hostPeer, pair.clientPeer].map { peer in
      let keys = peer.connection?.stream?.bodyKeys
      return Watch(keys?.sending, keys?.receiving)
    }
    #expect(watches.map(\.count) == [2, 2])
    try pair.world.run(for: .seconds(10))
    #expect(watches.map(\.count) == [0, 0])
  }

  @Test func `the keys of the handshake are gone once both sides have used those that follow`()
    throws
  {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    weak let initiator = pair.client.connection(pair.id)?.datagram?.handshake
    #expect(initiator != nil)
    pair.exchange()
    let id = try #require(pair.hostID)
    #expect(initiator == nil)
    #expect(pair.host.connection(id)?.datagram?.handshake == nil)
    #expect(pair.client.connection(pair.id)?.datagram?.handshake == nil)
  }
}
