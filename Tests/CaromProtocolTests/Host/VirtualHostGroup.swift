import CaromCore
import CaromTesting

@testable import CaromProtocol

/// Hosts that share a port on the virtual network, driven as `SessionNode` drives them on their
/// loops: the source address of a datagram selects the host, and streams go to random hosts.
struct VirtualHostGroup: VirtualNode {
  /// A handoff on its way between two loops.
  struct PendingHandoff {
    let due: Instant
    let member: Int
    let handoff: Handoff
    let stream: VirtualStream?
  }

  /// The time from sending a handoff to its delivery on the other loop.
  static let handoffDelay = Duration.microseconds(100)

  let host: VirtualHost
  private(set) var hosts: [Host] = []
  private(set) var directory: HostDirectory
  private var socket: VirtualSocket?
  private var streams: [(id: ConnectionID, stream: VirtualStream)] = []
  private var pending: [PendingHandoff] = []
  private var generator: SeededGenerator
  private let load: Load
  private(set) var senders: [ConnectionID: LoadSender] = [:]
  private(set) var checkers: [ConnectionID: LoadChecker] = [:]
  private(set) var open: [ConnectionID] = []
  private(set) var opened = 0
  private(set) var mostOpen = 0
  private(set) var endings: [DisconnectReason] = []
  private(set) var relayedDatagrams = 0
  private(set) var handedStreams = 0

  init(
    on host: VirtualHost, members count: Int, seats: Int, load: Load, access: LinkAccess? = nil,
    seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    self.host = host
    self.load = load
    let security = access.map { LinkSecurity(using: &generator, access: $0) }
    directory = HostDirectory(seats: seats, security: security)
    let secret = HostSecret(using: &generator)
    self.generator = generator
    let info = PeerInfo(id: PeerID(high: 1, low: 0), name: "group", application: "test")
    hosts = (0..<count).map {
      Host(info, seats: seats, secret: secret, security: security, member: $0)
    }
  }

  mutating func start(in network: inout VirtualNetwork) {
    socket = network.bind(host, port: VirtualPeer.port)
    _ = network.listen(host, port: VirtualPeer.port)
  }

  var nextTimeout: Instant? {
    var next = pending.first?.due
    for member in hosts { next = earliest(next, member.nextTimeout) }
    for id in open { next = earliest(next, senders[id]?.nextTick) }
    return next
  }

  /// The host whose socket receives datagrams from `source`.
  func member(for source: Endpoint) -> Int {
    guard case .v4(let address) = source.address else { return 0 }
    return Int((address &* 31 &+ UInt32(source.port) &* 7) % UInt32(hosts.count))
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    let now = network.now
    while let next = pending.first, next.due <= now {
      pending.removeFirst()
      deliver(next, at: now)
    }
    for member in hosts.indices {
      if let due = hosts[member].nextTimeout, due <= now {
        hosts[member].handleTimeout(at: now)
      }
    }
    drain(in: &network)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    let now = network.now
    switch event {
    case .datagram(let datagram, _):
      hosts[member(for: datagram.source)].receiveDatagram(
        datagram.payload.span, from: Route(datagram.source), at: now)
    case .accepted(let stream, _, _):
      let member = Int.random(in: hosts.indices, using: &generator)
      let id = hosts[member].makeConnectionID()
      if hosts[member].accept(id, at: now) { streams.append((id, stream)) }
    case .bytes(let bytes, let stream):
      guard let id = streams.first(where: { $0.stream == stream })?.id else { break }
      hosts[id.member].receive(bytes.span, on: id, at: now)
    case .end(let stream):
      end(stream, .ended, at: now)
      network.close(stream)
    case .reset(let stream), .timedOut(let stream): end(stream, .reset, at: now)
    case .connected, .refused, .drained: break
    }
    drain(in: &network)
  }

  private mutating func end(_ stream: VirtualStream, _ end: LinkEnd, at now: Instant) {
    guard let index = streams.firstIndex(where: { $0.stream == stream }) else { return }
    let id = streams.remove(at: index).id
    hosts[id.member].handleLinkEnd(end, of: id, at: now)
  }

  // MARK: Handoffs

  private mutating func deliver(_ next: PendingHandoff, at now: Instant) {
    switch next.handoff {
    case .datagram(let bytes, let route):
      hosts[next.member].receiveRelayed(bytes.span, from: route, at: now)
    case .stream(_, let handed):
      guard let stream = next.stream else { return }
      let id = hosts[next.member].makeConnectionID()
      streams.append((id, stream))
      _ = hosts[next.member].accept(handed, as: id, at: now)
    case .evict(let id, let other): hosts[next.member].evict(id, for: other, at: now)
    case .evicted(let id): hosts[next.member].grantSeat(to: id, at: now)
    }
  }

  private mutating func send(_ handoff: Handoff, to member: Int, at now: Instant) {
    var moved: VirtualStream?
    switch handoff {
    case .datagram: relayedDatagrams += 1
    case .stream(let id, _):
      guard let index = streams.firstIndex(where: { $0.id == id }) else { return }
      moved = streams.remove(at: index).stream
      handedStreams += 1
    case .evict, .evicted: break
    }
    pending.append(
      PendingHandoff(due: now + Self.handoffDelay, member: member, handoff: handoff, stream: moved))
  }

  // MARK: Output

  mutating func drain(in network: inout VirtualNetwork) {
    let now = network.now
    for id in open { senders[id]?.send(through: &hosts[id.member], id, at: now) }
    for member in hosts.indices {
      repeat {
        while let event = hosts[member].pollEvent() { handle(event, member, at: now) }
        hosts[member].resolveRequests(with: &directory, at: now)
        while let (handoff, other) = hosts[member].pollHandoff() {
          send(handoff, to: other, at: now)
        }
        while let reply = hosts[member].pollStatelessReply() {
          send(reply.bytes, reply.route, &network)
        }
        transmit(from: member, in: &network)
      } while hosts[member].hasEvents || hosts[member].hasDirectoryRequests
    }
  }

  private mutating func transmit(from member: Int, in network: inout VirtualNetwork) {
    var next: ConnectionID?
    repeat {
      let output = hosts[member].transmitDatagrams(at: network.now)
      for (datagram, route) in output.datagrams { send(datagram, route, &network) }
      next = output.next
      if let next { flush(next, in: &network) }
    } while next != nil
  }

  private mutating func handle(_ event: HostEvent, _ member: Int, at now: Instant) {
    switch event {
    case .requested(let id, _, _): hosts[member].admit(id, at: now)
    case .connection(let id, .opened):
      open.append(id)
      opened += 1
      mostOpen = max(mostOpen, open.count)
      checkers[id] = LoadChecker()
      senders[id] = LoadSender(load)
      senders[id]?.begin(at: now)
    case .connection(let id, .messages):
      while let message = hosts[member].pollMessage(on: id) {
        checkers[id]?.take(message.bytes, on: message.channel, at: now)
      }
    case .closed(let id, _, let reason, let wasOpen):
      open.removeAll { $0 == id }
      if wasOpen { endings.append(reason) }
    case .adopted(let id, let owner):
      for index in streams.indices where streams[index].id == id {
        streams[index].id = owner
      }
    default: break
    }
  }

  private mutating func flush(_ id: ConnectionID, in network: inout VirtualNetwork) {
    let now = network.now
    if let stream = streams.first(where: { $0.id == id })?.stream {
      while let bytes = hosts[id.member].pollTransmit(on: id, queued: 0, at: now) {
        network.write(bytes, to: stream)
      }
      if let action = hosts[id.member].pollLinkAction(on: id) {
        streams.removeAll { $0.stream == stream }
        if action == .cut { network.reset(stream) } else { network.close(stream) }
      }
    }
    var datagram: [UInt8] = []
    while let route = hosts[id.member].pollDatagram(on: id, into: &datagram, at: now) {
      send(datagram, route, &network)
      datagram.removeAll(keepingCapacity: true)
    }
    hosts[id.member].didFlush(id, at: now)
  }

  private func send(_ datagram: [UInt8], _ route: Route, _ network: inout VirtualNetwork) {
    if let socket { network.send(datagram, from: socket, to: route.endpoint) }
  }
}

/// A group of hosts, or one of its clients.
struct GroupNode: VirtualNode {
  var group: VirtualHostGroup?
  var client: VirtualPeer?

  var nextTimeout: Instant? { group == nil ? client?.nextTimeout : group?.nextTimeout }

  mutating func start(in network: inout VirtualNetwork) {
    group?.start(in: &network)
    client?.start(in: &network)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    group?.handle(event, in: &network)
    client?.handle(event, in: &network)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    group?.handleTimeout(in: &network)
    client?.handleTimeout(in: &network)
  }
}
