import CaromCore
import CaromCrypto
import Testing

@testable import CaromProtocol

/// Somebody who changes a byte of whatever two peers send each other, in every way of joining: of
/// each datagram and of each delivery on a stream, from the first one to the first message.
@Suite struct TamperingTests {
  private static let code = LinkAccess.code(try! JoinCode("K7QM-2XRT"), isForOneUse: false)
  private let key = ConnectionKey(prefix: 0x0102_0304_0506_0708, rest: 2)
  /// What the client sends once it is open.
  private let message: [UInt8] = [42, 43]

  /// How the client joins.
  enum Way: CaseIterable { case anyone, knownHost, wrongKey, code, token }

  private func makePair(_ way: Way) throws -> DatagramPair {
    switch way {
    case .code: DatagramPair(isEncrypted: true, access: Self.code)
    case .token:
      DatagramPair(
        ConnectTokenTests.makeReader(), client: try ConnectTokenTests.makeToken(),
        as: ConnectTokenTests.player)
    default: DatagramPair(isEncrypted: true)
    }
  }

  /// The key that the client believes the host to have.
  private func hostKey(_ way: Way, _ pair: DatagramPair) -> PublicKey? {
    var generator = SeededGenerator(seed: 77)
    switch way {
    case .knownHost: return pair.hostKey
    case .wrongKey: return Identity(using: &generator).publicKey
    default: return nil
    }
  }

  /// The handshakes that an undisturbed connection may have. A changed first message for a known
  /// host is answered as one with a wrong key.
  private func handshakes(_ way: Way) -> [LinkProtection.Handshake] {
    switch way {
    case .anyone, .wrongKey: [.xx]
    case .knownHost: [.ik, .xx]
    case .code: [.xxpsk3]
    case .token: [.nnpsk0]
    }
  }

  /// The reasons for which somebody between the two can keep a connection from opening: what is
  /// sent before there are keys can be changed, and the sides say that they do not understand it.
  private func isHint(_ reason: DisconnectReason) -> Bool {
    switch reason {
    case .versionMismatch, .securityMismatch, .wrongCode, .tokenRefused, .connectionReset: true
    default: false
    }
  }

  /// Checks a pair after a byte was changed and all timeouts have passed.
  private func check(_ pair: DatagramPair, _ way: Way, _ what: String) {
    let (host, client) = (pair.host.local.id, pair.client.local.id)
    for event in pair.hostEvents {
      if case .requested(_, let peer, _) = event { #expect(peer.id == client, "\(what)") }
    }
    guard pair.client.isOpen(pair.id) else {
      #expect(pair.clientEvents.endings.count == 1, "\(what): the client neither plays nor ends")
      #expect(
        pair.clientEvents.endings.allSatisfy(isHint),
        "\(what): \(pair.clientEvents.endings)")
      return
    }
    #expect(pair.client.openPeer(of: pair.id)?.id == host, "\(what)")
    let protection = pair.client.protection(of: pair.id)
    #expect(protection?.encryption == .aesGCM || !Cipher.aesGCM.isAvailable, "\(what)")
    #expect(protection?.handshake.map { handshakes(way).contains($0) } == true, "\(what)")
    #expect(pair.hostMessages == [message], "\(what)")
  }

  /// The bytes of a datagram that are changed: all but most of a long padding.
  private func indices(_ datagram: [UInt8]) -> [Int] {
    datagram.indices.filter { datagram.count < 600 || $0 < 320 || $0 % 97 == 0 }
  }

  // MARK: Datagrams

  @Test(arguments: Way.allCases)
  func `a changed byte of a datagram delays a connection or is noticed, and nothing else`(
    way: Way
  ) throws {
    var pair = try makePair(way)
    pair.connect(key, hostKey: hostKey(way, pair))
    var (count, opened) = (0, 0)
    for step in 0..<12 {
      if pair.client.isOpen(pair.id) {
        opened += 1
        if opened == 1 {
          try pair.client.send(message, on: 0, .reliableOrdered, to: pair.id, at: pair.now)
        }
        pair.drain()
      }
      let (up, down) = (pair.takeToHost(), pair.takeToClient())
      pair.now = pair.now + DatagramPair.delay
      for (isUp, datagrams) in [(true, up), (false, down)] {
        for (number, datagram) in datagrams.enumerated() {
          for index in indices(datagram) {
            var (copy, changed) = (pair, datagram)
            changed[index] ^= 1 << UInt8(index % 8)
            copy.deliver([changed] + datagrams[(number + 1)...], isUp: isUp)
            if isUp { copy.deliver(down, isUp: false) }
            try finish(&copy, hasSent: opened > 0)
            check(copy, way, "step \(step), \(isUp ? "up" : "down") \(number), byte \(index)")
            count += 1
          }
          pair.deliver([datagram], isUp: isUp)
        }
      }
      if !pair.hostMessages.isEmpty { break }
    }
    check(pair, way, "nothing changed")
    #expect(count > 500)
  }

  /// Lets all timeouts of a handshake pass, and sends the message if it has not been sent.
  private func finish(_ pair: inout DatagramPair, hasSent: Bool) throws {
    pair.run(for: .seconds(hasSent ? 1 : 3))
    if !pair.client.isOpen(pair.id) { pair.run(for: .seconds(9)) }
    guard !hasSent, pair.client.isOpen(pair.id) else { return }
    try pair.client.send(message, on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    pair.run(for: .seconds(1))
  }

  @Test(arguments: [true, false], [true, false])
  func `no packet with a changed byte is accepted, in both directions and after a change of keys`(
    isUp: Bool, hasNewKeys: Bool
  ) throws {
    var limits = KeyLimits()
    if hasNewKeys { limits.lifetime = .seconds(1) }
    var pair = DatagramPair(isEncrypted: true, keyLimits: limits)
    pair.connect(key)
    pair.exchange()
    pair.run(for: .seconds(hasNewKeys ? 3 : 0))
    let host = try #require(pair.hostID)
    func path(_ pair: DatagramPair) -> DatagramPath? {
      (isUp ? pair.host.connection(host) : pair.client.connection(pair.id))?.datagram
    }
    #expect(((path(pair)?.packetKeys?.changes ?? 0) > 0) == hasNewKeys)
    pair.drain()
    _ = (pair.takeToHost(), pair.takeToClient())
    if isUp {
      try pair.client.send(message, on: 0, .reliableOrdered, to: pair.id, at: pair.now)
    } else {
      try pair.host.send(message, on: 0, .reliableOrdered, to: host, at: pair.now)
    }
    pair.drain()
    let sent = isUp ? pair.takeToHost() : pair.takeToClient()
    let packet = try #require(sent.last)
    let before = path(pair)?.forgedPackets ?? 0
    for index in packet.indices {
      for bit in 0..<8 {
        var changed = packet
        changed[index] ^= 1 << UInt8(bit)
        pair.deliver([changed], isUp: isUp)
      }
    }
    func received() -> Int {
      isUp
        ? pair.hostMessages.count
        : pair.clientEvents.count { if case .connection(_, .messages) = $0 { true } else { false } }
    }
    #expect(received() == 0)
    // Bits that make another kind of datagram of it, or reserved ones, do not even reach the tag.
    let forged = (path(pair)?.forgedPackets ?? 0) - before
    #expect(forged > UInt64(packet.count - 1) * 8 - 32)
    pair.deliver([packet], isUp: isUp)
    #expect(received() == 1)
  }

  // MARK: Streams

  /// A pair whose only link is a stream.
  private struct StreamedPair {
    var pair: DatagramPair
    let id: ConnectionID
    let stream: ConnectionID
    /// The number of the byte to change, of all that cross the stream in both directions.
    var changed: Int?
    private(set) var count = 0

    init(_ pair: DatagramPair, _ key: ConnectionKey, hostKey: PublicKey?) {
      self.pair = pair
      (id, stream) = (self.pair.client.makeConnectionID(), self.pair.host.makeConnectionID())
      _ = self.pair.host.accept(stream, at: pair.now)
      self.pair.client.handleStreamConnected(id, key: key, hostKey: hostKey, at: pair.now)
    }

    private mutating func change(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      if let changed, (count..<count + bytes.count).contains(changed) {
        bytes[changed - count] ^= 1 << UInt8(changed % 8)
      }
      count += bytes.count
      return bytes
    }

    /// Carries bytes until neither side has any.
    mutating func exchange() {
      var isMoving = true
      while isMoving {
        isMoving = false
        while let bytes = pair.client.pollTransmit(on: id, queued: 0, at: pair.now) {
          pair.host.receive(change(bytes).span, on: stream, at: pair.now)
          isMoving = true
        }
        while let bytes = pair.host.pollTransmit(on: stream, queued: 0, at: pair.now) {
          pair.client.receive(change(bytes).span, on: id, at: pair.now)
          isMoving = true
        }
        pair.drain()
      }
    }
  }

  @Test(arguments: Way.allCases)
  func `a stream with a changed byte opens nothing, and its messages do not arrive`(
    way: Way
  ) throws {
    func run(changing changed: Int?) throws -> StreamedPair {
      let pair = try makePair(way)
      var run = StreamedPair(pair, key, hostKey: hostKey(way, pair))
      run.changed = changed
      run.exchange()
      _ = try? run.pair.client.send(message, on: 0, .reliableOrdered, to: run.id, at: run.pair.now)
      run.exchange()
      return run
    }
    let whole = try run(changing: nil)
    #expect(whole.pair.hostMessages == [message] && whole.count > 300)
    for index in 0..<whole.count {
      var run = try run(changing: index)
      let client = run.pair.client.local.id
      for event in run.pair.hostEvents {
        if case .requested(_, let peer, _) = event { #expect(peer.id == client, "byte \(index)") }
      }
      if let peer = run.pair.client.openPeer(of: run.id) {
        #expect(peer.id == run.pair.host.local.id, "byte \(index)")
      }
      // An acknowledgement may be what was changed: then the message has arrived as it was.
      #expect(
        run.pair.hostMessages.isEmpty || run.pair.hostMessages == [message], "byte \(index)")
      // A side that waits for the rest of a frame, or lost its stream, ends at the latest now.
      for _ in 0..<40 {
        run.pair.run(for: .milliseconds(500))
        run.exchange()
      }
      let isUndisturbed =
        run.pair.client.connection(run.id)?.stream?.isJoined == true
        && run.pair.host.connection(run.stream)?.stream?.isJoined == true
      #expect(!isUndisturbed, "byte \(index): nobody has noticed")
    }
  }
}

extension DatagramPair {
  fileprivate mutating func deliver(_ datagrams: some Sequence<[UInt8]>, isUp: Bool) {
    for datagram in datagrams {
      if isUp { deliverToHost(datagram) } else { deliverToClient(datagram) }
    }
  }
}
