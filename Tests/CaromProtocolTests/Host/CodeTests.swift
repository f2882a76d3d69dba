import CaromCore
import CaromCrypto
import CaromTesting
import Testing

@testable import CaromProtocol

/// Connections between those who know a code (WireFormat, "Join codes").
@Suite struct CodeTests {
  private static let code = try! JoinCode("K7QM-2XRT")
  private static let other = try! JoinCode("K7QM-2XRV")

  private static func access(_ code: JoinCode, isForOneUse: Bool = false) -> LinkAccess {
    .code(code, isForOneUse: isForOneUse)
  }

  static let links: [VirtualPeer.Links] = [
    [.datagram, .encrypted], [.stream, .encrypted], [.both, .encrypted],
  ]

  private func makePair(
    host: LinkAccess = access(code), client: LinkAccess = access(code),
    _ links: VirtualPeer.Links, profile: LinkProfile = LinkProfile("steady", .steady)
  ) -> VirtualPair {
    VirtualPair(
      seed: 3, profile: profile, links: links, load: Load(hertz: 60, ticks: 30),
      access: (host, client))
  }

  private func failures(_ pair: VirtualPair) -> [WrongCode] {
    pair.hostPeer.events.compactMap {
      if case .wrongCode(let failure) = $0 { failure } else { nil }
    }
  }

  @Test(arguments: links)
  func `those who know the code play over every kind of link`(links: VirtualPeer.Links) throws {
    var pair = makePair(links)
    #expect(try pair.runLoad(for: .seconds(10)))
    #expect(pair.faults.isEmpty && pair.hostPeer.endings.isEmpty)
    #expect(failures(pair).isEmpty)
    for peer in [pair.hostPeer, pair.clientPeer] {
      #expect((peer.connection?.datagram != nil) == links.contains(.datagram))
      #expect((peer.connection?.stream?.isJoined == true) == links.contains(.stream))
    }
  }

  @Test(arguments: links)
  func `a wrong code is refused at once, and counts once`(links: VirtualPeer.Links) throws {
    var pair = makePair(client: Self.access(Self.other), links)
    try pair.world.run(for: .seconds(1))
    #expect(pair.clientPeer.endings == [.wrongCode])
    #expect(failures(pair) == [WrongCode(count: 1, waitsUntil: nil)])
    try pair.world.run(for: .seconds(11))
    #expect(pair.clientPeer.endings == [.wrongCode])
    #expect(pair.hostPeer.machine.connectionIDs.isEmpty)
    #expect(failures(pair).count == 1)
  }

  @Test func `a wrong code is told again if the refusal is lost`() throws {
    var pair = DatagramPair(isEncrypted: true, access: Self.access(Self.code))
    pair.setClient(access: Self.access(Self.other))
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for _ in 0..<4 { pair.deliverInFlight() }
    for datagram in pair.takeToHost() { pair.deliverToHost(datagram) }
    #expect(pair.takeToClient().map(\.count) == [Refusal.length])
    pair.run(for: .seconds(2))
    #expect(pair.clientEvents.endings == [.wrongCode])
    #expect(pair.hostEvents.count { if case .wrongCode = $0 { true } else { false } } == 1)
  }

  @Test func `the attempt on a stream waits for the one on the datagram path`() throws {
    var pair = DatagramPair(isEncrypted: true, access: Self.access(Self.code))
    let key = ConnectionKey(prefix: 1, rest: 2)
    pair.connect(key)
    for _ in 0..<4 { pair.deliverInFlight() }
    let attempt = pair.takeToHost()
    let stream = pair.host.makeConnectionID()
    let isAccepted = pair.host.accept(stream, at: pair.now)
    #expect(isAccepted)
    pair.client.handleStreamConnected(pair.id, key: key, at: pair.now)
    var sent = 0
    func carry() {
      for _ in 0..<4 {
        if let bytes = pair.client.pollTransmit(on: pair.id, queued: 0, at: pair.now) {
          sent += 1
          pair.host.receive(bytes.span, on: stream, at: pair.now)
        }
        let id = pair.host.contains(stream) ? stream : pair.hostID ?? stream
        while let bytes = pair.host.pollTransmit(on: id, queued: 0, at: pair.now) {
          pair.client.receive(bytes.span, on: pair.id, at: pair.now)
        }
      }
    }
    carry()
    #expect(sent == 1)
    for datagram in attempt { pair.deliverToHost(datagram) }
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
    carry()
    #expect(sent > 1)
    #expect(pair.client.connection(pair.id)?.stream?.isJoined == true)
  }

  @Test(arguments: links)
  func `no side with a code talks to one without`(links: VirtualPeer.Links) throws {
    for (host, client) in [
      (LinkAccess.anyone, Self.access(Self.code)), (Self.access(Self.code), .anyone),
    ] {
      var pair = makePair(host: host, client: client, links)
      try pair.world.run(for: .seconds(2))
      #expect(pair.clientPeer.endings == [.securityMismatch])
      #expect(pair.clientPeer.openedAt == nil && pair.hostPeer.openedAt == nil)
    }
  }

  @Test(arguments: links)
  func `after three wrong codes, all attempts wait, even right ones`(links: VirtualPeer.Links)
    throws
  {
    var pair = makePair(client: Self.access(Self.other), links)
    let client = pair.client
    func tryAgain(_ code: JoinCode) {
      pair.world.withNode(of: client) { node, network in
        node.restart(access: Self.access(code))
        node.connectAgain(with: nil, in: &network)
      }
    }
    try pair.world.run(for: .seconds(1))
    for _ in 0..<2 {
      tryAgain(Self.other)
      try pair.world.run(for: .seconds(1))
    }
    #expect(failures(pair).map(\.count) == [1, 2, 3])
    #expect(failures(pair).last?.waitsUntil != nil)
    for code in [Self.other, Self.code] {
      tryAgain(code)
      try pair.world.run(for: .seconds(1))
    }
    #expect(pair.clientPeer.endings.suffix(2) == [.tooManyAttempts, .tooManyAttempts])
    #expect(pair.hostPeer.openedAt == nil)
    try pair.world.run(for: .seconds(30))
    tryAgain(Self.code)
    #expect(try pair.runLoad(for: .seconds(10)))
  }

  @Test func `during the wait, the host answers a right code as it answers a wrong one`() throws {
    var answers: [[[UInt8]]] = []
    for code in [Self.code, Self.other] {
      var pair = DatagramPair(isEncrypted: true, access: Self.access(Self.code))
      for _ in 0..<3 {
        var gate = pair.host.gate
        _ = gate?.decide(isRight: false, by: nil, at: pair.now)
        pair.host.gate = gate
      }
      pair.setClient(access: Self.access(code))
      pair.connect(ConnectionKey(prefix: 1, rest: 2))
      for _ in 0..<4 { pair.deliverInFlight() }
      _ = pair.takeToClient()
      for datagram in pair.takeToHost() { pair.deliverToHost(datagram) }
      pair.run(for: .seconds(2), delivers: false)
      answers.append(pair.takeToClient())
    }
    #expect(answers[0].map(\.count) == [Refusal.length])
    #expect(answers[0] == answers[1])
  }

  @Test func `a code for one use admits all links of one peer, and nobody else`() throws {
    var pair = makePair(
      host: Self.access(Self.code, isForOneUse: true), [.both, .encrypted])
    #expect(try pair.runLoad(for: .seconds(10)))
    #expect(pair.clientPeer.connection?.stream?.isJoined == true)
    let client = pair.client
    pair.world.withNode(of: client) { node, network in
      node.restart(access: Self.access(Self.code), keepsIdentity: false)
      node.connectAgain(with: nil, in: &network)
    }
    try pair.world.run(for: .seconds(2))
    #expect(pair.clientPeer.endings == [.wrongCode])
  }

  @Test func `a host that does not know the code learns nothing and cannot pretend`() throws {
    // The host in the middle answers with a code of its own.
    var pair = DatagramPair(isEncrypted: true, access: Self.access(Self.other))
    pair.setClient(access: Self.access(Self.code))
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for _ in 0..<4 { pair.deliverInFlight() }
    let name = Array("peer 2".utf8)
    let datagrams = pair.takeToHost()
    #expect(!datagrams.isEmpty)
    for datagram in datagrams {
      #expect(!datagram.contains(name))
      pair.deliverToHost(datagram)
    }
    #expect(!pair.hostEvents.contains { if case .requested = $0 { true } else { false } })
    pair.run(for: .seconds(1))
    #expect(pair.clientEvents.endings == [.wrongCode])
  }

  @Test func `a changed byte of the first messages has no effect, and no attempt is counted`()
    throws
  {
    for step in 0..<2 {
      var pair = DatagramPair(isEncrypted: true, access: Self.access(Self.code))
      pair.connect(ConnectionKey(prefix: 1, rest: 2))
      for _ in 0..<2 + step { pair.deliverInFlight() }
      let inFlight = step == 0 ? pair.takeToHost() : pair.takeToClient()
      let datagram = try #require(inFlight.last)
      let start = step == 0 ? Hello.length + HandshakePart.headLength : HandshakePart.headLength
      for index in start..<datagram.count {
        var changed = datagram
        changed[index] ^= 0x40
        var copy = pair
        if step == 0 { copy.deliverToHost(changed) } else { copy.deliverToClient(changed) }
        for _ in 0..<4 { copy.deliverInFlight() }
        #expect(!copy.client.isOpen(pair.id), "message \(step + 1), byte \(index)")
        #expect(!copy.hostEvents.contains { if case .wrongCode = $0 { true } else { false } })
      }
      if step == 0 { pair.deliverToHost(datagram) } else { pair.deliverToClient(datagram) }
      pair.exchange()
      #expect(pair.client.isOpen(pair.id))
    }
  }

  @Test func `somebody who did not begin a handshake cannot make its attempt fail`() throws {
    var pair = DatagramPair(isEncrypted: true, access: Self.access(Self.code))
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    for _ in 0..<4 { pair.deliverInFlight() }
    let datagram = try #require(pair.takeToHost().last)
    var reader = PacketReader(datagram.span)
    guard case .hello(let hello) = try SessionDatagram(decoding: &reader) else { return }
    let start = hello.length + HandshakePart.headLength
    for index in start..<start + 48 {
      var changed = datagram
      changed[index] ^= 0x01
      pair.deliverToHost(changed)
    }
    #expect(pair.hostEvents.isEmpty)
    pair.deliverToHost(datagram)
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
  }
}
