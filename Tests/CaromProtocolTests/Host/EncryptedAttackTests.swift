import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// What somebody can do who changes, repeats or reflects the packets of an encrypted connection.
@Suite struct EncryptedAttackTests {
  private let key = ConnectionKey(prefix: 1, rest: 2)

  /// A pair with an open connection, and all datagrams that it has exchanged.
  private func makeRecordedPair() -> (pair: DatagramPair, toHost: [[UInt8]], toClient: [[UInt8]]) {
    var pair = DatagramPair(isEncrypted: true)
    var (toHost, toClient): ([[UInt8]], [[UInt8]]) = ([], [])
    pair.connect(key)
    for _ in 0..<40 {
      let (up, down) = (pair.takeToHost(), pair.takeToClient())
      toHost += up
      toClient += down
      pair.now = pair.now + DatagramPair.delay
      for datagram in up { pair.deliverToHost(datagram) }
      for datagram in down { pair.deliverToClient(datagram) }
    }
    return (pair, toHost, toClient)
  }

  private func requests(of events: [HostEvent]) -> Int {
    events.count { if case .requested = $0 { true } else { false } }
  }

  // MARK: Datagrams

  @Test func `nothing that was heard has an effect when it is repeated`() {
    var (pair, toHost, toClient) = makeRecordedPair()
    #expect(pair.client.isOpen(pair.id) && requests(of: pair.hostEvents) == 1)
    for datagram in toHost { pair.deliverToHost(datagram) }
    for datagram in toClient { pair.deliverToClient(datagram) }
    for datagram in toHost {
      pair.deliverToHost(datagram, from: Route(Endpoint(.v4(0x0A00_0063), port: 9_999)))
    }
    #expect(pair.client.isOpen(pair.id) && requests(of: pair.hostEvents) == 1)
    #expect(pair.host.connectionIDs.count == 1)
    #expect(pair.hostEvents.endings.isEmpty && pair.clientEvents.endings.isEmpty)
    #expect(
      pair.hostID.flatMap { pair.host.connection($0)?.datagram?.route } == DatagramPair.clientRoute)
  }

  @Test func `a connection that was heard cannot be begun again after its end`() {
    var (pair, toHost, _) = makeRecordedPair()
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    pair.run(for: .seconds(3))
    #expect(pair.hostEvents.endings == [.left])
    for datagram in toHost { pair.deliverToHost(datagram) }
    #expect(requests(of: pair.hostEvents) == 1 && pair.host.connectionIDs.isEmpty)
    // A host that has started again knows neither the connection nor the cookies.
    var generator = SeededGenerator(seed: 9)
    pair.host = Host(
      makePeer(1), seats: 4, secret: HostSecret(low: 3, high: 4),
      security: LinkSecurity(using: &generator))
    for datagram in toHost { pair.deliverToHost(datagram) }
    #expect(requests(of: pair.hostEvents) == 1 && pair.host.connectionIDs.isEmpty)
  }

  @Test func `nothing has an effect when it is sent back to its sender`() {
    var (pair, toHost, toClient) = makeRecordedPair()
    for datagram in toHost { pair.deliverToClient(datagram) }
    for datagram in toClient { pair.deliverToHost(datagram) }
    #expect(pair.client.isOpen(pair.id))
    #expect(pair.client.connectionIDs.count == 1 && pair.host.connectionIDs.count == 1)
    #expect(pair.hostEvents.endings.isEmpty && pair.clientEvents.endings.isEmpty)
  }

  @Test func `a hello with any changed byte does not move the path`() throws {
    var pair = DatagramPair.opened(isEncrypted: true)
    pair.run(for: .milliseconds(50))
    let other = Route(Endpoint(.v4(0x0A00_0063), port: 9_999))
    let keys = try #require(pair.client.connection(pair.id)?.datagram?.keys)
    var hello = Hello(
      key: pair.key, epoch: 9, resumes: true,
      cookie: Cookie(for: other.endpoint, secret: pair.host.secret, at: pair.now), isSealed: true)
    hello.tag = keys.makeTag(of: hello)
    var writer = FrameWriter(limit: Hello.paddedLength)
    hello.write(to: &writer)
    let bytes = writer.takeBytes()
    func route(of pair: DatagramPair) -> Route? {
      pair.hostID.flatMap { pair.host.connection($0)?.datagram?.route }
    }
    for index in bytes.indices {
      for bit in [UInt8(0x01), 0x80] {
        var copy = pair
        var changed = bytes
        changed[index] ^= bit
        copy.deliverToHost(changed, from: other)
        // The host knows the connection, so it needs neither the version nor the flag that it
        // exists already.
        let isHarmless = [5, 6].contains(index) || index == 27 && bit == 0x01
        #expect((route(of: copy) == DatagramPair.clientRoute) != isHarmless, "byte \(index)")
        #expect(copy.host.connectionIDs.count == 1)
      }
    }
    pair.deliverToHost(bytes, from: other)
    #expect(route(of: pair) == other)
  }

  @Test(.enabled(if: Cipher.aesGCM.isAvailable, "the processor has no instructions for AES"))
  func `nobody between the two sides can choose the weaker cipher`() throws {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key)
    for _ in 0..<2 { pair.deliverInFlight() }
    var datagram = try #require(pair.takeToHost().last)
    let offer = Hello.length + HandshakePart.headLength
    #expect(datagram[offer] == 3)
    datagram[offer] = 1
    pair.deliverToHost(datagram)
    for _ in 0..<6 { pair.deliverInFlight() }
    #expect(!pair.client.isOpen(pair.id))
  }

  @Test func `a hello with another version is refused`() throws {
    var pair = DatagramPair(isEncrypted: true)
    pair.connect(key)
    for _ in 0..<2 { pair.deliverInFlight() }
    var datagram = try #require(pair.takeToHost().last)
    datagram[5] = 2
    pair.deliverToHost(datagram)
    #expect(pair.host.connectionIDs.isEmpty)
    let refusal = try #require(pair.takeToClient().last)
    #expect(refusal[0] == 0x82 && refusal[9] == Goodbye.Code.versionMismatch.rawValue)
  }

  // MARK: Streams

  /// Two connections joined by an encrypted stream.
  private struct StreamPair {
    let now = Instant(nanoseconds: 1_000_000_000)
    var host: Connection
    var client: Connection
    /// The number of the byte to change, of all that cross the stream in both directions; nil if
    /// none is changed.
    var changed: Int?
    private(set) var count = 0
    private(set) var messages: [[UInt8]] = []

    init() {
      var generator = SeededGenerator(seed: 4)
      var securities = [LinkSecurity(using: &generator), LinkSecurity(using: &generator)]
      let secrets = securities.indices.map { securities[$0].takeSecrets() }
      host = .respondingOnStream(
        as: LocalSide(makePeer(1), security: securities[0]), secrets[0], at: now)
      client = .initiatingOnStream(
        as: LocalSide(makePeer(2), security: securities[1]), secrets[1], at: now)
    }

    /// Carries bytes until neither side has any.
    mutating func exchange() {
      for _ in 0..<20 {
        let up = change(client.pollStream(queued: 0, at: now) ?? [])
        let down = change(host.pollStream(queued: 0, at: now) ?? [])
        host.receive(up.span, at: now)
        client.receive(down.span, at: now)
        if case .requested? = nextEvent(&host) { host.admit(at: now) }
        while let message = host.pollMessage() { messages.append(message.bytes) }
        if up.isEmpty, down.isEmpty { return }
      }
    }

    /// Sends a long message in each direction, so that no frame stays incomplete because of its
    /// length.
    mutating func continueBothWays() {
      let long = [UInt8](repeating: 7, count: 20_000)
      _ = try? client.send(long, on: 0, .reliableOrdered, at: now)
      _ = try? host.send(long, on: 0, .reliableOrdered, at: now)
      exchange()
    }

    private mutating func change(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      if let changed, (count..<count + bytes.count).contains(changed) {
        bytes[changed - count] ^= 0x20
      }
      count += bytes.count
      return bytes
    }
  }

  @Test func `a stream of which any byte was changed does not open on both sides`() {
    var whole = StreamPair()
    whole.exchange()
    #expect(whole.host.isOpen && whole.client.isOpen)
    for index in 0..<whole.count {
      var pair = StreamPair()
      pair.changed = index
      pair.exchange()
      pair.continueBothWays()
      let isDamaged =
        pair.host.stream == nil || pair.client.stream == nil || pair.host.isEnding
        || pair.client.isEnding || !pair.host.isOpen || !pair.client.isOpen
      #expect(isDamaged, "byte \(index)")
    }
  }

  @Test func `a message on a stream of which any byte was changed does not arrive`() throws {
    var whole = StreamPair()
    whole.exchange()
    let start = whole.count
    try whole.client.send([1, 2, 3, 4], on: 0, .reliableOrdered, at: whole.now)
    let ready = whole
    let length = whole.client.pollStream(queued: 0, at: whole.now)?.count ?? 0
    whole = ready
    whole.exchange()
    #expect(whole.messages == [[1, 2, 3, 4]] && length > 24)
    for index in start..<start + length {
      var pair = ready
      pair.changed = index
      pair.exchange()
      #expect(pair.messages.isEmpty, "byte \(index - start)")
    }
  }

  @Test func `somebody else cannot join a stream to a connection whose key was heard`() throws {
    var pair = DatagramPair.opened(isEncrypted: true)
    var generator = SeededGenerator(seed: 5)
    var security = LinkSecurity(using: &generator)
    let secrets = security.takeSecrets()
    var other = Connection.initiatingOnStream(
      as: LocalSide(makePeer(2), security: security), key: pair.key, secrets, at: pair.now)
    let id = pair.host.makeConnectionID()
    let isAccepted = pair.host.accept(id, at: pair.now)
    #expect(isAccepted)
    for _ in 0..<6 {
      if let bytes = other.pollStream(queued: 0, at: pair.now) {
        pair.host.receive(bytes.span, on: id, at: pair.now)
      }
      while let bytes = pair.host.pollTransmit(on: id, queued: 0, at: pair.now) {
        other.receive(bytes.span, at: pair.now)
      }
      pair.drain()
    }
    #expect(!other.isOpen)
    #expect(pollEvents(&other) == [.closed(.connectionReset)])
    #expect(pair.client.isOpen(pair.id) && requests(of: pair.hostEvents) == 1)
    #expect(pair.hostID.flatMap { pair.host.connection($0)?.stream } == nil)
  }
}
