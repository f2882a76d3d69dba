import CaromCodec
import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

private let now = Instant(nanoseconds: 1_000_000_000)

/// Peers without keys, whose streams are encrypted below the session, on hosts that encrypt.
@Suite struct SealedPeerTests {
  /// A host, and peers that have opened streams to it.
  private struct World {
    var host: Host
    private(set) var events: [HostEvent] = []
    /// The peers, each with the ids of its connection at both ends.
    private(set) var peers: [(host: Host, own: ConnectionID, remote: ConnectionID)] = []
    private(set) var endings: [Int: DisconnectReason] = [:]

    init(_ access: LinkAccess, seed: UInt64 = 1) {
      var generator = SeededGenerator(seed: seed)
      host = Host(
        makePeer(1), seats: 4, secret: HostSecret(low: 1, high: 2),
        security: LinkSecurity(using: &generator, access: access))
    }

    /// Opens a stream for a peer, encrypted below the session unless the peer has `security`.
    mutating func add(
      _ number: UInt64, key: ConnectionKey? = nil, code: String? = nil,
      security: LinkSecurity? = nil
    ) -> Int {
      let id = host.makeConnectionID()
      _ = host.accept(
        id, isSealed: security == nil, isWebSocket: security == nil, code: code, at: now)
      var peer = Host(
        makePeer(number), seats: 0, security: security, requiresSealedStreams: security == nil)
      let own = peer.makeConnectionID()
      peer.handleStreamConnected(
        own, key: key ?? ConnectionKey(prefix: number, rest: number),
        isSealed: security == nil, at: now)
      peers.append((peer, own, id))
      exchange()
      return peers.count - 1
    }

    mutating func exchange() {
      for _ in 0..<8 {
        while let event = host.pollEvent() {
          events.append(event)
          if case .requested(let id, _, _) = event { host.admit(id, at: now) }
        }
        for index in peers.indices {
          let (own, remote) = (peers[index].own, peers[index].remote)
          while let event = peers[index].host.pollEvent() {
            if case .closed(_, _, let reason, _) = event { endings[index] = reason }
          }
          while let bytes = peers[index].host.pollTransmit(on: own, queued: 0, at: now) {
            host.receive(bytes.span, on: remote, at: now)
          }
          while let bytes = host.pollTransmit(on: remote, queued: 0, at: now) {
            peers[index].host.receive(bytes.span, on: own, at: now)
          }
        }
      }
    }

    func isOpen(_ index: Int) -> Bool { peers[index].host.isOpen(peers[index].own) }

    /// The id that a peer has on the host.
    func id(_ index: Int) -> PeerID? { host.openPeer(of: peers[index].remote)?.id }

    var wrongCodes: [Int] {
      events.compactMap { if case .wrongCode(let failure) = $0 { failure.count } else { nil } }
    }
  }

  private func makeCode() throws -> LinkAccess {
    .code(try JoinCode("K7QM-2XRT"), isForOneUse: false)
  }

  private func makeSecurity(_ access: LinkAccess = .anyone) -> LinkSecurity {
    var generator = SeededGenerator(seed: 77)
    return LinkSecurity(using: &generator, access: access)
  }

  @Test func `a host that encrypts takes a peer whose stream is encrypted below`() throws {
    var world = World(.anyone)
    let peer = world.add(2)
    #expect(world.isOpen(peer))
    let protection = try #require(world.host.protection(of: world.peers[peer].remote))
    #expect(protection.isBelow && world.host.proof(of: world.peers[peer].remote) == nil)
    #expect(world.host.kind(of: world.peers[peer].remote) == .webSocket)
  }

  @Test func `the id of such a peer is derived from its secret`() throws {
    var world = World(.anyone)
    let peer = world.add(2)
    let id = try #require(world.id(peer))
    #expect(id != makePeer(2).id && id == PeerID(ofSecret: makePeer(2).id))
    // The same secret is the same peer, which takes its seat again.
    let again = world.add(2, key: ConnectionKey(prefix: 8, rest: 8))
    #expect(world.id(again) == id && world.endings[peer] == .replaced)
    // The id of another peer is a secret like any other.
    let security = makeSecurity()
    let player = world.add(3, security: security)
    let playerID = try #require(security.identity).id
    #expect(world.id(player) == playerID)
    #expect(PeerID(ofSecret: playerID) != playerID)
  }

  @Test func `the code is shown below the session, and compared as people type it`() throws {
    for code in ["K7QM-2XRT", "k7qm2xrt", " K7QM 2XRT"] {
      var world = World(try makeCode())
      let peer = world.add(2, code: code)
      #expect(world.isOpen(peer) && world.wrongCodes == [], "\(code)")
    }
  }

  @Test func `wrong codes count, a missing one does not, and the third makes all others wait`()
    throws
  {
    var world = World(try makeCode())
    let codes = [nil, "AAAA-AAAA", nil, "no code", nil, "K7QM-2XRS", nil]
    for (number, code) in codes.enumerated() {
      let peer = world.add(UInt64(number) + 2, code: code)
      #expect(world.endings[peer] == .wrongCode && !world.isOpen(peer))
    }
    #expect(world.wrongCodes == [1, 2, 3])
    let right = world.add(19, code: "K7QM-2XRT")
    #expect(world.endings[right] == .tooManyAttempts && !world.isOpen(right))
  }

  @Test func `a code for one use is used up by the peer that has shown it`() throws {
    var world = World(.code(try JoinCode("K7QM-2XRT"), isForOneUse: true))
    let first = world.add(2, code: "K7QM-2XRT")
    let second = world.add(3, code: "K7QM-2XRT")
    #expect(world.isOpen(first) && world.endings[second] == .wrongCode)
    let again = world.add(2, key: ConnectionKey(prefix: 8, rest: 8), code: "K7QM-2XRT")
    #expect(world.isOpen(again))
  }

  @Test func `a host with a list refuses peers without a key`() {
    var world = World(.known(KnownPeers(), name: nil))
    let peer = world.add(2)
    #expect(world.endings[peer] == .securityMismatch && world.events.endings == [.securityMismatch])
  }

  @Test func `a stream that is encrypted below does not join a connection of the session`() throws {
    var world = World(.anyone)
    let player = world.add(3, security: makeSecurity())
    let key = ConnectionKey(prefix: 3, rest: 3)
    // Everybody may know the key of an encrypted connection.
    let intruder = world.add(2, key: key)
    #expect(world.endings[intruder] != nil && world.isOpen(player))
    let id = world.host.makeConnectionID()
    _ = world.host.accept(id, isSealed: true, at: now)
    var frames: [UInt8] = []
    let join = ControlPacket.join(version: SessionWire.version, key).packet
    Packet.appendFrame(
      type: join.type, action: join.action, payload: join.payload.span, to: &frames)
    world.host.receive(frames.span, on: id, at: now)
    world.exchange()
    #expect(world.isOpen(player) && !world.host.isOpen(id))
  }

  @Test func `a hello does not move a connection whose streams are encrypted below`() {
    var world = World(.anyone)
    let peer = world.add(2)
    let hello = Hello(
      key: ConnectionKey(prefix: 2, rest: 2), epoch: 1, resumes: false,
      cookie: Cookie(
        for: DatagramPair.clientRoute.endpoint, secret: world.host.secret, at: now),
      isSealed: true)
    world.host.receiveDatagram(hello.encoded.span, from: DatagramPair.clientRoute, at: now)
    #expect(world.host.connection(world.peers[peer].remote)?.datagram == nil)
    #expect(world.isOpen(peer))
  }
}
