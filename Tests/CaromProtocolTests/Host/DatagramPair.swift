import CaromCore
import CaromCrypto

@testable import CaromProtocol

/// A host and a client that exchange datagrams, each of which takes 5 ms. A test may remove
/// datagrams that are in flight, and deliver them later or again.
struct DatagramPair {
  static let hostRoute = Route(Endpoint(.v4(0x0A00_0001), port: 7777))
  static let clientRoute = Route(Endpoint(.v4(0x0A00_0002), port: 5000))
  static let delay = Duration.milliseconds(5)

  var now = Instant(nanoseconds: 1_000_000_000)
  var host: Host
  var client: Host
  /// The client's newest connection.
  private(set) var id = ConnectionID(0)
  private(set) var key = ConnectionKey.none
  private(set) var toHost: [[UInt8]] = []
  private(set) var toClient: [[UInt8]] = []
  private(set) var hostEvents: [HostEvent] = []
  private(set) var clientEvents: [HostEvent] = []
  var hostMessages: [[UInt8]] = []
  /// Whether the host's owner reads messages as soon as they arrive.
  var hostReads = true
  /// The number of requests that the host refuses as busy before it grants one.
  var refusals = 0

  /// Creates a pair that is not connected. `access` is whose links both sides accept if they are
  /// encrypted.
  init(
    isEncrypted: Bool = false, access: LinkAccess = .anyone, keyLimits: KeyLimits = KeyLimits(),
    ciphers: [Cipher] = [.aesGCM, .chaChaPoly]
  ) {
    var generator = SeededGenerator(seed: 1)
    func makeSecurity() -> LinkSecurity? {
      guard isEncrypted else { return nil }
      var security = LinkSecurity(using: &generator, access: access, ciphers: ciphers)
      security.keyLimits = keyLimits
      return security
    }
    host = Host(
      makePeer(1), seats: 4, secret: HostSecret(low: 1, high: 2), security: makeSecurity())
    client = Host(makePeer(2), seats: 0, security: makeSecurity())
  }

  /// Creates a pair whose host accepts the tokens that `reader` accepts, and whose client has a
  /// token and the id that belongs to it.
  init(_ reader: TicketReader, client token: ConnectToken, as player: PeerID) {
    self.init(isEncrypted: true, access: .tickets(reader))
    setClient(token, as: player)
  }

  /// Replaces the client with one that has a connect token.
  mutating func setClient(_ token: ConnectToken, as player: PeerID) {
    var generator = SeededGenerator(seed: 2)
    let seed = SecretBytes(random: SecretSource.length, using: &generator)
    var info = makePeer(2)
    info.id = player
    client = Host(info, seats: 0, security: LinkSecurity(nil, access: .token(token), seed: seed))
    clientEvents = []
  }

  /// Replaces the client with one of the same identity that accepts other links.
  mutating func setClient(access: LinkAccess) {
    guard let identity = client.side.security?.identity else { return }
    var generator = SeededGenerator(seed: 2)
    let seed = SecretBytes(random: SecretSource.length, using: &generator)
    client = Host(
      makePeer(2), seats: 0, security: LinkSecurity(identity, access: access, seed: seed))
  }

  /// A pair with an open connection.
  static func opened(isEncrypted: Bool = false) -> DatagramPair {
    var pair = DatagramPair(isEncrypted: isEncrypted)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.exchange()
    return pair
  }

  /// The host's connection with the newest key; nil if there is none.
  var hostID: ConnectionID? { host.keys[key] }

  /// Connects the client, which believes that the host has the key `hostKey`, if it is not nil.
  mutating func connect(
    _ key: ConnectionKey, token: JoinToken? = nil, hostKey: PublicKey? = nil
  ) {
    id = client.makeConnectionID()
    self.key = key
    client.connect(id, to: [Self.hostRoute], key: key, token: token, hostKey: hostKey, at: now)
    drain()
  }

  /// The public key of the host; nil without encryption.
  var hostKey: PublicKey? { host.side.security?.identity?.publicKey }

  /// Creates one side, whose identity is `identity`.
  static func makeHost(
    _ number: UInt64, seats: Int, _ identity: Identity, access: LinkAccess = .anyone,
    seed: UInt64
  ) -> Host {
    var generator = SeededGenerator(seed: seed)
    let secret = HostSecret(using: &generator)
    let seed = SecretBytes(random: SecretSource.length, using: &generator)
    return Host(
      makePeer(number), seats: seats, secret: secret,
      security: LinkSecurity(identity, access: access, seed: seed))
  }

  /// Delivers datagrams until none is in flight.
  mutating func exchange() {
    drain()
    while !toHost.isEmpty || !toClient.isEmpty {
      now = now + Self.delay
      let (up, down) = (takeToHost(), takeToClient())
      for datagram in up { deliverToHost(datagram) }
      for datagram in down {
        client.receiveDatagram(datagram.span, from: Self.hostRoute, at: now)
      }
      handleTimeouts()
    }
  }

  /// Advances the clock by `duration`. Delivers datagrams if `delivers`, and otherwise leaves them
  /// in flight.
  mutating func run(for duration: Duration, delivers: Bool = true) {
    let end = now + duration
    if delivers { exchange() }
    while let due = earliest(host.nextTimeout, client.nextTimeout), due <= end {
      now = max(now, due)
      handleTimeouts()
      if delivers { exchange() }
    }
    now = max(now, end)
  }

  private mutating func handleTimeouts() {
    host.handleTimeout(at: now)
    client.handleTimeout(at: now)
    drain()
  }

  mutating func deliverToHost(_ datagram: [UInt8], from source: Route = clientRoute) {
    host.receiveDatagram(datagram.span, from: source, at: now)
    drain()
  }

  mutating func deliverToClient(_ datagram: [UInt8]) {
    client.receiveDatagram(datagram.span, from: Self.hostRoute, at: now)
    drain()
  }

  /// Removes and returns the datagrams on their way to the host.
  mutating func takeToHost() -> [[UInt8]] {
    defer { toHost = [] }
    return toHost
  }

  /// Removes and returns the datagrams on their way to the client.
  mutating func takeToClient() -> [[UInt8]] {
    defer { toClient = [] }
    return toClient
  }

  /// Handles the events of both sides and collects their datagrams.
  mutating func drain() {
    while host.hasEvents || client.hasEvents {
      while let event = host.pollEvent() { handle(event) }
      while let event = client.pollEvent() { clientEvents.append(event) }
    }
    toClient += Self.pollDatagrams(&host, at: now)
    toHost += Self.pollDatagrams(&client, at: now)
    if host.hasEvents || client.hasEvents { drain() }
  }

  private mutating func handle(_ event: HostEvent) {
    hostEvents.append(event)
    if case .requested(let id, _, _) = event {
      if refusals > 0 { host.close(id, Goodbye(.busy), at: now) } else { host.admit(id, at: now) }
      refusals -= 1
    }
    if case .connection(let id, .messages) = event, hostReads { readHostMessages(on: id) }
  }

  /// Reads all messages that have arrived at the host.
  mutating func readHostMessages(on id: ConnectionID) {
    while let message = host.pollMessage(on: id) { hostMessages.append(message.bytes) }
  }

  private static func pollDatagrams(_ machine: inout Host, at now: Instant) -> [[UInt8]] {
    var datagrams: [[UInt8]] = []
    while let reply = machine.pollStatelessReply() { datagrams.append(reply.bytes) }
    while let id = machine.pollReady() {
      var datagram: [UInt8] = []
      while machine.pollDatagram(on: id, into: &datagram, at: now) != nil {
        datagrams.append(datagram)
        datagram = []
      }
      machine.didFlush(id, at: now)
    }
    return datagrams
  }
}

extension [HostEvent] {
  /// The reasons of the connections that ended.
  var endings: [DisconnectReason] {
    compactMap { if case .closed(_, _, let reason, _) = $0 { reason } else { nil } }
  }
}
