import CaromCore
import CaromCrypto
import CaromTesting

@testable import CaromProtocol

/// A peer on the virtual network, with a UDP socket and streams, driven as `SessionNode` drives
/// one. It hosts or connects, sends its `Load`, and checks everything that it receives.
struct VirtualPeer: VirtualNode {
  /// The kinds of link that a peer opens and accepts, and whether they are encrypted.
  struct Links: OptionSet {
    let rawValue: Int
    static let datagram = Links(rawValue: 1)
    static let stream = Links(rawValue: 2)
    static let both: Links = [.datagram, .stream]
    static let encrypted = Links(rawValue: 4)
    /// Every combination, in plaintext and encrypted.
    static let all: [Links] =
      [.datagram, .stream, .both]
      + [[.datagram, .encrypted], [.stream, .encrypted], [.datagram, .stream, .encrypted]]
    /// Both kinds of link, in plaintext and encrypted.
    static let bothKinds: [Links] = [.both, [.datagram, .stream, .encrypted]]
    /// Datagrams alone, in plaintext and encrypted.
    static let datagrams: [Links] = [.datagram, [.datagram, .encrypted]]
  }

  static let port: UInt16 = 7777

  let host: VirtualHost
  let links: Links
  private(set) var key: ConnectionKey
  private var generator: SeededGenerator
  private var security: LinkSecurity?
  /// The newest token that the host issued.
  private(set) var token: JoinToken?
  /// The token for the next connection attempt.
  private var tokenInUse: JoinToken?
  private(set) var machine: Host
  private var socket: VirtualSocket?
  private var streams: [(id: ConnectionID, stream: VirtualStream)] = []
  private var opening: [(id: ConnectionID, stream: VirtualStream)] = []
  private let target: Endpoint?
  /// The key that the target is said to have; nil if nothing is said.
  private let hostKey: PublicKey?
  private(set) var id: ConnectionID?
  var sender = LoadSender()
  private(set) var checker = LoadChecker()
  private(set) var events: [HostEvent] = []
  private(set) var openedAt: Instant?
  private(set) var endings: [DisconnectReason] = []
  /// Everything that has arrived at this peer; nil if it is not recorded.
  private(set) var heard: [[UInt8]]?
  private(set) var datagramsSent = 0
  private(set) var bytesSent = 0
  private(set) var largestDatagram = 0

  init(
    on host: VirtualHost, connectingTo target: VirtualHost? = nil, links: Links = .datagram,
    load: Load = Load(), timing: SessionTiming = SessionTiming(), access: LinkAccess = .anyone,
    keyLimits: KeyLimits = KeyLimits(), hostKey: PublicKey? = nil, recordsArrivals: Bool = false,
    seed: UInt64 = 1
  ) {
    self.hostKey = hostKey
    if recordsArrivals { heard = [] }
    var generator = SeededGenerator(seed: seed &* 1_000 &+ UInt64(host.id.number))
    self.host = host
    self.links = links
    self.target = target.map { Endpoint($0.v4, port: Self.port) }
    key = ConnectionKey(using: &generator)
    let info = PeerInfo(
      id: PeerID(high: 0, low: UInt64(host.id.number) + 1), name: "peer on \(host.id)",
      application: "test")
    var security =
      links.contains(.encrypted) ? LinkSecurity(using: &generator, access: access) : nil
    security?.keyLimits = keyLimits
    self.security = security
    machine = Host(
      info, seats: 16, timing: timing, secret: HostSecret(using: &generator), security: security)
    self.generator = generator
    sender = LoadSender(load)
  }

  /// Gives the peer the id that belongs to its connect token, before it starts.
  mutating func setPlayer(_ player: PeerID) {
    var info = machine.local
    info.id = player
    machine = Host(info, seats: 16, timing: machine.side.timing, security: security)
  }

  /// The public key of the peer's identity; nil without one.
  var publicKey: PublicKey? { machine.side.security?.identity?.publicKey }

  var connection: Connection? { id.flatMap { machine.connection($0) } }

  mutating func start(in network: inout VirtualNetwork) {
    if links.contains(.datagram) {
      socket = network.bind(host, port: target == nil ? Self.port : 0)
    }
    if target == nil {
      if links.contains(.stream) { _ = network.listen(host, port: Self.port) }
    } else {
      connect(in: &network)
    }
    drain(in: &network)
  }

  /// Connects to the host over all of this peer's kinds of link.
  mutating func connect(in network: inout VirtualNetwork) {
    guard let target else { return }
    let id = machine.makeConnectionID()
    self.id = id
    if links.contains(.datagram) {
      machine.connect(
        id, to: [Route(target)], key: key, token: tokenInUse, hostKey: hostKey, at: network.now)
    }
    if links.contains(.stream) { opening.append((id, network.connect(from: host, to: target))) }
  }

  /// Connects again, as a new connection.
  mutating func connectAgain(with token: JoinToken?, in network: inout VirtualNetwork) {
    openedAt = nil
    tokenInUse = token
    key = ConnectionKey(using: &generator)
    connect(in: &network)
    drain(in: &network)
  }

  /// Simulates a restart of the process: all state is lost. `access` is whose links the peer
  /// accepts from then on; nil if that stays the same.
  mutating func restart(access: LinkAccess? = nil, keepsIdentity: Bool = true) {
    let seed = SecretBytes(random: SecretSource.length, using: &generator)
    let other = keepsIdentity ? nil : Identity(using: &generator)
    security = security.map {
      LinkSecurity(other ?? $0.identity, access: access ?? $0.access, seed: seed)
    }
    machine = Host(
      machine.local, seats: 16, timing: machine.side.timing, secret: HostSecret(using: &generator),
      security: security)
    id = nil
    streams = []
  }

  /// Resets all streams of this peer.
  mutating func cutStreams(in network: inout VirtualNetwork) {
    for (id, stream) in streams {
      network.reset(stream)
      machine.handleLinkEnd(.reset, of: id, at: network.now)
    }
    streams = []
    drain(in: &network)
  }

  mutating func close(_ goodbye: Goodbye = Goodbye(.left), in network: inout VirtualNetwork) {
    if let id { machine.close(id, goodbye, at: network.now) }
    drain(in: &network)
  }

  var nextTimeout: Instant? {
    earliest(machine.nextTimeout, openedAt == nil ? nil : sender.nextTick)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    machine.handleTimeout(at: network.now)
    drain(in: &network)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    let now = network.now
    switch event {
    case .datagram(let datagram, _):
      heard?.append(datagram.payload)
      machine.receiveDatagram(datagram.payload.span, from: Route(datagram.source), at: now)
    case .accepted(let stream, _, _):
      let id = machine.makeConnectionID()
      if machine.accept(id, at: now) { streams.append((id, stream)) }
    case .connected(let stream):
      guard let index = opening.firstIndex(where: { $0.stream == stream }) else { break }
      let entry = opening.remove(at: index)
      machine.handleStreamConnected(entry.id, key: key, hostKey: hostKey, at: now)
      streams.append(entry)
    case .refused(let stream), .timedOut(let stream):
      if let entry = opening.first(where: { $0.stream == stream }) {
        opening.removeAll { $0.stream == stream }
        machine.handleStreamFailed(entry.id, at: now)
      }
      end(stream, .timedOut, at: now)
    case .bytes(let bytes, let stream):
      heard?.append(bytes)
      guard let id = streams.first(where: { $0.stream == stream })?.id else { break }
      machine.receive(bytes.span, on: id, at: now)
    case .end(let stream):
      end(stream, .ended, at: now)
      network.close(stream)
    case .reset(let stream): end(stream, .reset, at: now)
    case .drained: break
    }
    drain(in: &network)
  }

  private mutating func end(_ stream: VirtualStream, _ end: LinkEnd, at now: Instant) {
    guard let index = streams.firstIndex(where: { $0.stream == stream }) else { return }
    machine.handleLinkEnd(end, of: streams.remove(at: index).id, at: now)
  }

  mutating func drain(in network: inout VirtualNetwork) {
    let now = network.now
    if let id, openedAt != nil { sender.send(through: &machine, id, at: now) }
    repeat {
      while let event = machine.pollEvent() { handle(event, in: &network) }
      while let reply = machine.pollStatelessReply() {
        send(reply.bytes, to: reply.route, in: &network)
      }
      transmit(in: &network)
    } while machine.hasEvents
  }

  private mutating func transmit(in network: inout VirtualNetwork) {
    var next: ConnectionID?
    repeat {
      let output = machine.transmitDatagrams(at: network.now)
      for (datagram, route) in output.datagrams { send(datagram, to: route, in: &network) }
      next = output.next
      if let next { flush(next, in: &network) }
    } while next != nil
  }

  private mutating func flush(_ id: ConnectionID, in network: inout VirtualNetwork) {
    if let stream = streams.first(where: { $0.id == id })?.stream {
      while let bytes = machine.pollTransmit(on: id, queued: 0, at: network.now) {
        bytesSent += bytes.count
        network.write(bytes, to: stream)
      }
      if let action = machine.pollLinkAction(on: id) {
        streams.removeAll { $0.stream == stream }
        if action == .cut { network.reset(stream) } else { network.close(stream) }
      }
    }
    var datagram: [UInt8] = []
    while let route = machine.pollDatagram(on: id, into: &datagram, at: network.now) {
      send(datagram, to: route, in: &network)
      datagram.removeAll(keepingCapacity: true)
    }
    machine.didFlush(id, at: network.now)
  }

  private mutating func send(
    _ datagram: [UInt8], to route: Route, in network: inout VirtualNetwork
  ) {
    guard let socket else { return }
    datagramsSent += 1
    bytesSent += datagram.count
    largestDatagram = max(largestDatagram, datagram.count)
    network.send(datagram, from: socket, to: route.endpoint)
  }

  private mutating func handle(_ event: HostEvent, in network: inout VirtualNetwork) {
    let now = network.now
    switch event {
    case .requested(let id, _, _): machine.admit(id, at: now)
    case .connection(let id, .opened):
      self.id = id
      openedAt = now
      sender.begin(at: now)
      sender.send(through: &machine, id, at: now)
    case .connection(let id, .messages):
      while let message = machine.pollMessage(on: id) {
        checker.take(message.bytes, on: message.channel, at: now)
      }
      return
    case .closed(_, _, let reason, _): endings.append(reason)
    case .adopted(let id, let owner):
      for index in streams.indices where streams[index].id == id {
        streams[index].id = owner
      }
    case .connection(let id, .reconnect):
      if links.contains(.stream), let target {
        opening.append((id, network.connect(from: host, to: target)))
      }
    case .connection(_, .measured): return
    case .connection(_, .invited(let token)):
      self.token = token
      return
    default: break
    }
    events.append(event)
  }
}

extension LinkSecurity {
  /// Creates the settings of a host with a new identity.
  init(
    using generator: inout some RandomNumberGenerator, access: LinkAccess = .anyone,
    ciphers: [Cipher] = [.aesGCM, .chaChaPoly]
  ) {
    let identity = Identity(using: &generator)
    let hasToken = if case .token = access { true } else { false }
    self.init(
      hasToken ? nil : identity, access: access,
      seed: SecretBytes(random: SecretSource.length, using: &generator),
      ciphers: ciphers)
  }
}
