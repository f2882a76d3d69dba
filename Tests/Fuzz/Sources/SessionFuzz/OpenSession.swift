import CaromCodec
import CaromCore
import CaromCrypto
import CaromProtocol

/// A host with an open connection, whose initiator sends what it is told. The initiator is written
/// here from the page WireFormat, not taken from `Host`. It never reads what the host answers.
struct OpenSession {
  /// The kinds of link of an initiator.
  enum Link { case stream, datagrams }

  /// An open connection of each kind, in plaintext and encrypted. Each input begins with a copy.
  static let all = [
    OpenSession(.stream, isSealed: false), OpenSession(.stream, isSealed: true),
    OpenSession(.datagrams, isSealed: false), OpenSession(.datagrams, isSealed: true),
  ]

  private static let secret = HostSecret(low: 1, high: 2)
  private static let route = Route(Endpoint(.v4(0x0A00_0002), port: 5000))
  private static let key = ConnectionKey(prefix: 0x1234, rest: 0x5678)
  /// The offer of ChaCha20-Poly1305, and its bit in the choice.
  private static let offer: UInt8 = 1
  /// The most that the connection may hold, in bytes; see `HostScript`.
  private static let memoryLimit = 160 << 20

  private let link: Link
  private var host: Host
  private var id = ConnectionID(0)
  private let now = Instant(nanoseconds: 1_000_000_000)
  private var sending: TransportKey?
  /// The number of the next body or data packet.
  private var number: UInt64 = 0
  private var endings = 0

  private init(_ link: Link, isSealed: Bool) {
    self.link = link
    let identity = Self.makeIdentity(1)
    host = Host(
      PeerInfo(id: PeerID(high: 0, low: 1), name: "1", application: "fuzz"), seats: 4,
      secret: Self.secret,
      security: isSealed ? LinkSecurity(identity, seed: Self.makeSecret(2)) : nil)
    switch link {
    case .stream: openStream(isSealed)
    case .datagrams: openPath(isSealed)
    }
    precondition(host.isOpen(id), "the connection is open")
  }

  private static func makeSecret(_ seed: UInt64) -> SecretBytes {
    var generator = SeededGenerator(seed: seed)
    return SecretBytes(random: 32, using: &generator)
  }

  private static func makeIdentity(_ seed: UInt64) -> Identity {
    var generator = SeededGenerator(seed: seed)
    return Identity(using: &generator)
  }

  // MARK: Opening

  /// Sends a request, as the peer whose key the handshake proves.
  private static func makeRequest(_ isSealed: Bool) -> [UInt8] {
    let id = isSealed ? makeIdentity(3).id : PeerID(high: 0, low: 2)
    let peer = PeerInfo(id: id, name: "2", application: "fuzz")
    var writer = PacketWriter()
    ControlPacket.request(version: SessionWire.version, key, peer).packet.encode(into: &writer)
    return writer.bytes
  }

  private static func makeHandshake(_ key: ConnectionKey) -> Handshake {
    var prologue = PacketWriter()
    prologue.write(Array("carom session".utf8))
    prologue.write(SessionWire.sealedVersion)
    prologue.append(offer)
    prologue.write(key.prefix)
    prologue.write(key.rest)
    return Handshake(
      .xx, cipher: .chaChaPoly, isInitiator: true, prologue: prologue.bytes,
      staticKey: makeIdentity(3).keys, ephemeralKey: KeyPair(secret: makeSecret(4)))
  }

  private mutating func openStream(_ isSealed: Bool) {
    id = host.makeConnectionID()
    precondition(host.accept(id, at: now))
    if isSealed {
      var noise = Self.makeHandshake(.none)
      sendHandshake([Self.offer] + Self.write(&noise))
      // The answer is a frame: its length, the type, action and version, and the message.
      Self.read(Array(takeStreamBytes().dropFirst(14)), &noise)
      sendHandshake(Self.write(&noise))
      sending = noise.makeTransportKeys(for: .chaChaPoly).sending
    }
    send(Self.makeRequest(isSealed))
  }

  private mutating func sendHandshake(_ message: [UInt8]) {
    var writer = PacketWriter()
    ControlPacket.handshake(version: SessionWire.sealedVersion, message).packet.encode(
      into: &writer)
    sendFrame(writer.bytes)
  }

  private mutating func openPath(_ isSealed: Bool) {
    let request = Self.makeRequest(isSealed)
    var frames = FrameWriter(limit: 1_000)
    precondition(
      frames.appendMessage(
        .reliableOrdered, channel: SessionWire.controlChannel, number: 0, request.span))
    guard isSealed else {
      receive(Self.makeHello(isSealed) + makePacket(frames.takeBytes()))
      return
    }
    var noise = Self.makeHandshake(Self.key)
    receive(Self.makeHello(isSealed) + Self.makePart(1, [Self.offer] + Self.write(&noise)))
    let answer = takeDatagram()
    var reader = PacketReader(answer.span)
    guard case .handshake(let part)? = try? SessionDatagram(decoding: &reader) else {
      preconditionFailure("the host answers the handshake")
    }
    Self.read(part.message, &noise)
    let last = Self.write(&noise)
    sending = noise.makeTransportKeys(for: .chaChaPoly).sending
    receive(Self.makeHello(isSealed) + Self.makePart(3, last) + makePacket(frames.takeBytes()))
  }

  private static func write(_ noise: inout Handshake) -> [UInt8] {
    guard let message = try? noise.write() else { preconditionFailure("the handshake fails") }
    return message
  }

  private static func read(_ message: [UInt8], _ noise: inout Handshake) {
    guard (try? noise.read(message.span)) == [offer] else {
      preconditionFailure("the host's message is not the answer")
    }
  }

  private static func makeHello(_ isSealed: Bool) -> [UInt8] {
    let cookie = Cookie(
      for: route.endpoint, secret: secret, at: Instant(nanoseconds: 1_000_000_000))
    var writer = FrameWriter(limit: Hello.paddedLength)
    Hello(key: key, epoch: 1, resumes: false, cookie: cookie, isSealed: isSealed)
      .write(to: &writer)
    return writer.takeBytes()
  }

  private static func makePart(_ number: UInt8, _ message: [UInt8]) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    HandshakePart(number: number, keyPrefix: key.prefix, message: message).write(to: &writer)
    return writer.takeBytes()
  }

  // MARK: Sending

  /// Sends the content of one stream body, or of one data packet. If the first byte of the latter
  /// is odd, an acknowledgement stands at its beginning.
  mutating func send(_ content: [UInt8]) {
    guard link == .stream else {
      return receive(
        content.first.map {
          makePacket(Array(content.dropFirst()), hasAcknowledgement: $0 & 1 != 0)
        }
          ?? makePacket([]))
    }
    var body = content
    sending?.seal(&body, head: 0, number: number)
    number += 1
    sendFrame(body)
  }

  private mutating func sendFrame(_ body: [UInt8]) {
    var writer = PacketWriter()
    writer.write(UInt64(body.count))
    let frame = writer.bytes + body
    host.receive(frame.span, on: id, at: now)
    handleEvents()
  }

  private mutating func makePacket(_ content: [UInt8], hasAcknowledgement: Bool = false) -> [UInt8]
  {
    var writer = FrameWriter(limit: DataHeader.maximumLength)
    DataHeader(role: .initiator, number: number, numberLength: 4).write(to: &writer)
    var packet = writer.takeBytes()
    let head = packet.count
    if hasAcknowledgement { packet[0] |= 8 }
    packet += content
    sending?.seal(&packet, head: head, number: number)
    number += 1
    return packet
  }

  private mutating func receive(_ datagram: [UInt8]) {
    host.receiveDatagram(datagram.span, from: Self.route, at: now)
    handleEvents()
  }

  // MARK: The host

  private mutating func handleEvents() {
    while let event = host.pollEvent() {
      switch event {
      case .requested(let id, _, _):
        self.id = id
        host.admit(id, at: now)
      case .connection(let id, .messages): while host.pollMessage(on: id, { _, _ in }) {}
      case .closed:
        endings += 1
        precondition(endings == 1, "a connection ended twice")
      default: break
      }
    }
    if host.isOpen(id) { flush() }
    precondition(host.heldBytes(of: id) <= Self.memoryLimit, "a connection holds too much")
  }

  /// Discards what the host sends, except while the connection is being opened.
  private mutating func flush() {
    _ = takeStreamBytes()
    _ = takeDatagram()
  }

  private mutating func takeStreamBytes() -> [UInt8] {
    var bytes: [UInt8] = []
    while host.pollTransmit(on: id, queued: 0, at: now, { bytes.append(copying: $0) }) {}
    return bytes
  }

  private mutating func takeDatagram() -> [UInt8] {
    var datagram: [UInt8] = []
    while let ready = host.pollReady() {
      while host.pollTransmit(on: ready, queued: 0, at: now, { _ in }) {}
      _ = host.pollLinkAction(on: ready)
      while host.pollDatagram(on: ready, into: &datagram, at: now) != nil {}
      host.didFlush(ready, at: now)
    }
    return datagram
  }
}
