import CaromCore
import CaromTesting

@testable import CaromProtocol

/// A peer on the virtual network, with a UDP socket and streams, as the shell drives one: it hosts
/// or calls, sends what its `Load` says, and checks everything that comes.
struct VirtualPeer: VirtualNode {
  /// Which links it opens and takes.
  struct Links: OptionSet {
    let rawValue: Int
    static let datagram = Links(rawValue: 1)
    static let stream = Links(rawValue: 2)
    static let both: Links = [.datagram, .stream]
  }

  static let port: UInt16 = 7777

  let host: VirtualHost
  let links: Links
  private(set) var key: ConnectionKey
  private var generator: SeededGenerator
  /// What the host gave it, and what it calls with.
  private(set) var invitation: JoinToken?
  var token: JoinToken?
  private(set) var machine: Host
  private var socket: VirtualSocket?
  private var streams: [(link: ConnectionID, stream: VirtualStream)] = []
  private var opening: [(link: ConnectionID, stream: VirtualStream)] = []
  private let target: Endpoint?
  private(set) var link: ConnectionID?
  var sender = LoadSender()
  private(set) var checker = LoadChecker()
  private(set) var events: [HostEvent] = []
  private(set) var openedAt: Instant?
  private(set) var endings: [DisconnectReason] = []
  private(set) var datagramsSent = 0
  private(set) var bytesSent = 0
  private(set) var largestDatagram = 0

  init(
    on host: VirtualHost, calling target: VirtualHost? = nil, links: Links = .datagram,
    load: Load = Load(), timing: SessionTiming = SessionTiming(), seed: UInt64 = 1
  ) {
    var generator = SeededGenerator(seed: seed &* 1_000 &+ UInt64(host.id.number))
    self.host = host
    self.links = links
    self.target = target.map { Endpoint($0.v4, port: Self.port) }
    key = ConnectionKey(using: &generator)
    let info = PeerInfo(
      id: PeerID(high: 0, low: UInt64(host.id.number) + 1), name: "\(host.id)",
      application: "test")
    machine = Host(info, seats: 16, timing: timing, secret: HostSecret(using: &generator))
    self.generator = generator
    sender = LoadSender(load)
  }

  var connection: Connection? { link.flatMap { machine.connection($0) } }

  mutating func start(in network: inout VirtualNetwork) {
    if links.contains(.datagram) {
      socket = network.bind(host, port: target == nil ? Self.port : 0)
    }
    if target == nil {
      if links.contains(.stream) { _ = network.listen(host, port: Self.port) }
    } else {
      call(in: &network)
    }
    drain(in: &network)
  }

  /// Calls the host, over every kind of link that it has.
  mutating func call(in network: inout VirtualNetwork) {
    guard let target else { return }
    let link = machine.makeConnectionID()
    self.link = link
    if links.contains(.datagram) {
      machine.connect(link, to: [Route(target)], key: key, token: token, at: network.now)
    }
    if links.contains(.stream) { opening.append((link, network.connect(from: host, to: target))) }
  }

  /// Calls once more, as another connection.
  mutating func callAgain(with token: JoinToken?, in network: inout VirtualNetwork) {
    openedAt = nil
    self.token = token
    key = ConnectionKey(using: &generator)
    call(in: &network)
    drain(in: &network)
  }

  /// The process is another one, and knows nothing of before.
  mutating func restart() {
    machine = Host(
      machine.local, seats: 16, timing: machine.timing, secret: HostSecret(using: &generator))
    link = nil
  }

  /// Its streams break.
  mutating func cutStreams(in network: inout VirtualNetwork) {
    for (link, stream) in streams {
      network.reset(stream)
      machine.handleLinkEnd(.reset, of: link, at: network.now)
    }
    streams = []
    drain(in: &network)
  }

  mutating func close(in network: inout VirtualNetwork) {
    if let link { machine.close(link, Goodbye(.left), at: network.now) }
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
      machine.receiveDatagram(datagram.payload.span, from: Route(datagram.source), at: now)
    case .accepted(let stream, _, _):
      let link = machine.makeConnectionID()
      if machine.accept(link, at: now) { streams.append((link, stream)) }
    case .connected(let stream):
      guard let index = opening.firstIndex(where: { $0.stream == stream }) else { break }
      let entry = opening.remove(at: index)
      machine.handleStreamConnected(entry.link, key: key, at: now)
      streams.append(entry)
    case .refused(let stream), .timedOut(let stream):
      if let entry = opening.first(where: { $0.stream == stream }) {
        opening.removeAll { $0.stream == stream }
        machine.handleStreamFailed(entry.link, at: now)
      }
      end(stream, .timedOut, at: now)
    case .bytes(let bytes, let stream):
      guard let link = streams.first(where: { $0.stream == stream })?.link else { break }
      machine.receive(bytes.span, on: link, at: now)
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
    machine.handleLinkEnd(end, of: streams.remove(at: index).link, at: now)
  }

  mutating func drain(in network: inout VirtualNetwork) {
    let now = network.now
    if let link, openedAt != nil { sender.send(through: &machine, link, at: now) }
    repeat {
      while let event = machine.pollEvent() { handle(event, in: &network) }
      while let answer = machine.pollStatelessReply() {
        send(answer.bytes, to: answer.route, in: &network)
      }
      while let link = machine.pollReady() { flush(link, in: &network) }
    } while machine.hasEvents
  }

  private mutating func flush(_ link: ConnectionID, in network: inout VirtualNetwork) {
    if let stream = streams.first(where: { $0.link == link })?.stream {
      while let bytes = machine.pollTransmit(on: link, queued: 0, at: network.now) {
        bytesSent += bytes.count
        network.write(bytes, to: stream)
      }
      if let action = machine.pollLinkAction(on: link) {
        streams.removeAll { $0.stream == stream }
        if action == .cut { network.reset(stream) } else { network.close(stream) }
      }
    }
    var datagram: [UInt8] = []
    while let way = machine.pollDatagram(on: link, into: &datagram, at: network.now) {
      send(datagram, to: way, in: &network)
      datagram.removeAll(keepingCapacity: true)
    }
    machine.didFlush(link, at: network.now)
  }

  private mutating func send(
    _ datagram: [UInt8], to way: Route, in network: inout VirtualNetwork
  ) {
    guard let socket else { return }
    datagramsSent += 1
    bytesSent += datagram.count
    largestDatagram = max(largestDatagram, datagram.count)
    network.send(datagram, from: socket, to: way.endpoint)
  }

  private mutating func handle(_ event: HostEvent, in network: inout VirtualNetwork) {
    let now = network.now
    switch event {
    case .requested(let link, _, _): machine.admit(link, at: now)
    case .connection(let link, .opened):
      self.link = link
      openedAt = now
      sender.begin(at: now)
      sender.send(through: &machine, link, at: now)
    case .connection(let link, .messages):
      while let message = machine.pollMessage(on: link) {
        checker.take(message.bytes, on: message.channel, at: now)
      }
      return
    case .closed(_, _, let reason, _): endings.append(reason)
    case .adopted(let link, let owner):
      for index in streams.indices where streams[index].link == link {
        streams[index].link = owner
      }
    case .connection(let link, .reconnect):
      if links.contains(.stream), let target {
        opening.append((link, network.connect(from: host, to: target)))
      }
    case .connection(_, .measured): return
    case .connection(_, .invited(let token)):
      invitation = token
      return
    default: break
    }
    events.append(event)
  }
}
