import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// Somebody who sits between a client and a host: the client's datagrams reach a host of his, and
/// a client of his connects to the real host.
@Suite struct ManInTheMiddleTests {
  private let key = ConnectionKey(prefix: 1, rest: 2)
  private static let right = LinkAccess.code(try! JoinCode("K7QM-2XRT"), isForOneUse: false)
  private static let guess = LinkAccess.code(try! JoinCode("K7QM-2XRV"), isForOneUse: false)

  /// The identities of the host, the client, and the two sides of the one in the middle.
  private let host: Identity
  private let client: Identity
  private let front: Identity
  private let back: Identity

  init() {
    var generator = SeededGenerator(seed: 21)
    host = Identity(using: &generator)
    client = Identity(using: &generator)
    front = Identity(using: &generator)
    back = Identity(using: &generator)
  }

  /// The two halves of the path: the client and the man in the middle, and he and the real host.
  private func makeHalves(
    host hostAccess: LinkAccess = .anyone, client clientAccess: LinkAccess = .anyone,
    middle: LinkAccess = .anyone
  ) -> (near: DatagramPair, far: DatagramPair) {
    var (near, far) = (DatagramPair(isEncrypted: true), DatagramPair(isEncrypted: true))
    near.client = DatagramPair.makeHost(2, seats: 0, client, access: clientAccess, seed: 31)
    near.host = DatagramPair.makeHost(3, seats: 4, front, access: middle, seed: 32)
    far.client = DatagramPair.makeHost(4, seats: 0, back, access: middle, seed: 33)
    far.host = DatagramPair.makeHost(1, seats: 4, host, access: hostAccess, seed: 34)
    return (near, far)
  }

  private func requests(of events: [HostEvent]) -> Int {
    events.count { if case .requested = $0 { true } else { false } }
  }

  @Test func `between two who never met, he can pass on what they say, but not their words`()
    throws
  {
    var (near, far) = makeHalves()
    near.connect(key)
    far.connect(key)
    near.exchange()
    far.exchange()
    let (nearID, farID) = (try #require(near.hostID), try #require(far.hostID))
    #expect(near.client.isOpen(near.id) && far.host.isOpen(farID))
    try near.client.send([1, 2, 3], on: 0, .reliableOrdered, to: near.id, at: near.now)
    near.exchange()
    let heard = try #require(near.hostMessages.first)
    try far.client.send(heard, on: 0, .reliableOrdered, to: far.id, at: far.now)
    far.exchange()
    #expect(far.hostMessages == [[1, 2, 3]])
    // What the two would read out to each other: each side's own words, and those it sees.
    let seenByClient = try #require(near.client.proof(of: near.id)?.key)
    let seenByHost = try #require(far.host.proof(of: farID)?.key)
    #expect(Fingerprint(seenByClient) != host.fingerprint)
    #expect(Fingerprint(seenByHost) != client.fingerprint)
    #expect(near.client.openPeer(of: near.id)?.id != host.id)
    #expect(near.host.proof(of: nearID)?.key == client.publicKey)
    #expect(seenByClient == front.publicKey && seenByHost == back.publicKey)
  }

  @Test(arguments: [false, true])
  func `a client that knows the host refuses him before it says who it is`(isAdvertised: Bool)
    throws
  {
    var known = KnownPeers()
    try known.insert("the server", host.publicKey)
    var (near, _) = makeHalves(client: .known(known, name: "the server"))
    near.connect(key, hostKey: isAdvertised ? front.publicKey : nil)
    near.exchange()
    guard case .untrusted(let why)? = near.clientEvents.endings.first else {
      Issue.record("the man in the middle was not refused")
      return
    }
    #expect(why.contains("\(host.fingerprint)") && why.contains("\(front.fingerprint)"))
    #expect(requests(of: near.hostEvents) == 0)
  }

  @Test func `a host that knows its players refuses him`() throws {
    var known = KnownPeers()
    try known.insert("Maya", client.publicKey)
    var (_, far) = makeHalves(host: .known(known, name: nil))
    far.connect(key, hostKey: host.publicKey)
    far.exchange()
    #expect(far.clientEvents.endings == [.untrusted("")])
    #expect(requests(of: far.hostEvents) == 0)
  }

  @Test func `without the code, he is refused by both sides and reads nothing`() throws {
    var (near, far) = makeHalves(host: Self.right, client: Self.right, middle: Self.guess)
    near.connect(key)
    far.connect(key)
    var heard: [[UInt8]] = []
    for _ in 0..<40 {
      for pair in [near, far] { heard += pair.toHost + pair.toClient }
      near.deliverInFlight()
      far.deliverInFlight()
    }
    near.run(for: .seconds(1))
    far.run(for: .seconds(1))
    #expect(near.clientEvents.endings == [.wrongCode])
    #expect(far.clientEvents.endings == [.wrongCode])
    for events in [near.hostEvents, far.hostEvents] {
      #expect(requests(of: events) == 0)
      #expect(events.count { if case .wrongCode = $0 { true } else { false } } == 1)
    }
    #expect(!heard.isEmpty && !heard.contains { $0.contains(Array("peer 2".utf8)) })
  }

  @Test func `a handshake with a code cannot be joined of two halves`() throws {
    // He passes the first messages on unchanged, and puts his own keys into the last.
    var (near, far) = makeHalves(host: Self.right, client: Self.right, middle: Self.guess)
    near.connect(key)
    far.connect(key)
    for _ in 0..<2 {
      near.deliverInFlight()
      far.deliverInFlight()
    }
    let first = try #require(near.takeToHost().last)
    let hello = Hello(
      key: key, epoch: 1, resumes: false,
      cookie: Cookie(
        for: DatagramPair.clientRoute.endpoint, secret: far.host.secret, at: far.now),
      isSealed: true)
    far.deliverToHost(hello.encoded + first[Hello.length...])
    let second = try #require(far.takeToClient().last)
    near.deliverToClient(second)
    let third = try #require(near.takeToHost().last)
    // The last message is for the host alone: changed or left out, the host grants nothing.
    var changed = third
    changed[Hello.length + AuthenticationTag.length + HandshakePart.headLength] ^= 1
    far.deliverToHost(changed)
    far.run(for: .seconds(1))
    #expect(requests(of: far.hostEvents) == 0)
    #expect(!near.client.isOpen(near.id))
  }

  @Test func `without the key of the backend, he can only refuse a token`() throws {
    let (reader, player) = (ConnectTokenTests.makeReader(), ConnectTokenTests.player)
    let token = try ConnectTokenTests.makeToken()
    var near = DatagramPair(reader, client: token, as: player)
    let other = TicketReader(
      keys: [ConnectTokenTests.makeKey(8)], start: UnixTime(milliseconds: -1), endpoints: nil)
    near.host = DatagramPair.makeHost(3, seats: 4, front, access: .tickets(other), seed: 35)
    near.connect(key)
    let first = try #require(near.toHost.last)
    let secret = token.key.reveal()
    #expect(!first.contains(secret) && !first.contains(Array("peer 2".utf8)))
    near.exchange()
    #expect(near.clientEvents.endings == [.tokenRefused(.notAuthentic)])
    #expect(requests(of: near.hostEvents) == 0)
  }

  @Test func `one who only passes on datagrams reads nothing of a match with a token`() throws {
    let (reader, player) = (ConnectTokenTests.makeReader(), ConnectTokenTests.player)
    var pair = DatagramPair(reader, client: try ConnectTokenTests.makeToken(), as: player)
    pair.connect(key)
    var heard: [[UInt8]] = []
    for _ in 0..<20 {
      heard += pair.toHost + pair.toClient
      pair.deliverInFlight()
    }
    #expect(pair.client.isOpen(pair.id))
    for name in ["peer 1", "peer 2"] {
      #expect(!heard.contains { $0.contains(Array(name.utf8)) })
    }
  }
}
