import CaromCore
import CaromTesting

@testable import CaromProtocol

/// Hosts that share a port on the virtual network, as the shell drives them on their loops: each
/// datagram comes to one of them by its source, each stream to one or another.
struct VirtualHostGroup: VirtualNode {
  struct Letter {
    let due: Instant
    let member: Int
    let mail: Handoff
    let stream: VirtualStream?
  }

  /// How long mail lies before its loop sees it.
  static let mailDelay = Duration.microseconds(100)

  let host: VirtualHost
  private(set) var members: [Host] = []
  private(set) var directory: HostDirectory
  private var socket: VirtualSocket?
  private var streams: [(link: ConnectionID, stream: VirtualStream)] = []
  private var letters: [Letter] = []
  private var generator: SeededGenerator
  private let load: Load
  private(set) var senders: [ConnectionID: LoadSender] = [:]
  private(set) var checkers: [ConnectionID: LoadChecker] = [:]
  private(set) var open: [ConnectionID] = []
  private(set) var opened = 0
  private(set) var mostOpen = 0
  private(set) var endings: [DisconnectReason] = []
  private(set) var relayed = 0
  private(set) var handed = 0

  init(on host: VirtualHost, members count: Int, seats: Int, load: Load, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    self.host = host
    self.load = load
    directory = HostDirectory(seats: seats)
    let secret = HostSecret(using: &generator)
    self.generator = generator
    let info = PeerInfo(id: PeerID(high: 1, low: 0), name: "house", application: "test")
    members = (0..<count).map { Host(info, seats: seats, secret: secret, member: $0) }
  }

  mutating func start(in network: inout VirtualNetwork) {
    socket = network.bind(host, port: VirtualPeer.port)
    _ = network.listen(host, port: VirtualPeer.port)
  }

  var nextTimeout: Instant? {
    var next = letters.first?.due
    for member in members { next = earliest(next, member.nextTimeout) }
    for link in open { next = earliest(next, senders[link]?.nextTick) }
    return next
  }

  /// Which socket the system gives it to.
  func member(for source: Endpoint) -> Int {
    guard case .v4(let address) = source.address else { return 0 }
    return Int((address &* 31 &+ UInt32(source.port) &* 7) % UInt32(members.count))
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    let now = network.now
    while let letter = letters.first, letter.due <= now {
      letters.removeFirst()
      take(letter, at: now)
    }
    for member in members.indices {
      if let due = members[member].nextTimeout, due <= now {
        members[member].handleTimeout(at: now)
      }
    }
    drain(in: &network)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    let now = network.now
    switch event {
    case .datagram(let datagram, _):
      members[member(for: datagram.source)].receiveDatagram(
        datagram.payload.span, from: Route(datagram.source), at: now)
    case .accepted(let stream, _, _):
      let member = Int.random(in: members.indices, using: &generator)
      let link = members[member].makeConnectionID()
      if members[member].accept(link, at: now) { streams.append((link, stream)) }
    case .bytes(let bytes, let stream):
      guard let link = streams.first(where: { $0.stream == stream })?.link else { break }
      members[link.member].receive(bytes.span, on: link, at: now)
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
    let link = streams.remove(at: index).link
    members[link.member].handleLinkEnd(end, of: link, at: now)
  }

  // MARK: What goes from one to another

  private mutating func take(_ letter: Letter, at now: Instant) {
    switch letter.mail {
    case .datagram(let bytes, let way):
      members[letter.member].receiveRelayed(bytes.span, from: way, at: now)
    case .stream(_, let handed):
      guard let stream = letter.stream else { return }
      let link = members[letter.member].makeConnectionID()
      streams.append((link, stream))
      _ = members[letter.member].accept(handed, as: link, at: now)
    case .evict(let link, let other): members[letter.member].evict(link, for: other, at: now)
    case .evicted(let link): members[letter.member].handleEvicted(for: link, at: now)
    }
  }

  private mutating func send(_ mail: Handoff, to member: Int, at now: Instant) {
    var moved: VirtualStream?
    switch mail {
    case .datagram: relayed += 1
    case .stream(let link, _):
      guard let index = streams.firstIndex(where: { $0.link == link }) else { return }
      moved = streams.remove(at: index).stream
      handed += 1
    case .evict, .evicted: break
    }
    letters.append(
      Letter(due: now + Self.mailDelay, member: member, mail: mail, stream: moved))
  }

  // MARK: What goes out

  mutating func drain(in network: inout VirtualNetwork) {
    let now = network.now
    for link in open { senders[link]?.send(through: &members[link.member], link, at: now) }
    for member in members.indices {
      repeat {
        while let event = members[member].pollEvent() { handle(event, member, at: now) }
        members[member].resolveRequests(with: &directory, at: now)
        while let (mail, other) = members[member].pollHandoff() { send(mail, to: other, at: now) }
        while let answer = members[member].pollStatelessReply() { send(answer.bytes, answer.route, &network) }
        while let link = members[member].pollReady() { flush(link, in: &network) }
      } while members[member].hasEvents || members[member].hasDirectoryRequests
    }
  }

  private mutating func handle(_ event: HostEvent, _ member: Int, at now: Instant) {
    switch event {
    case .requested(let link, _, _): members[member].admit(link, at: now)
    case .connection(let link, .opened):
      open.append(link)
      opened += 1
      mostOpen = max(mostOpen, open.count)
      checkers[link] = LoadChecker()
      senders[link] = LoadSender(load)
      senders[link]?.begin(at: now)
    case .connection(let link, .messages):
      while let message = members[member].pollMessage(on: link) {
        checkers[link]?.take(message.bytes, on: message.channel, at: now)
      }
    case .closed(let link, _, let reason, let wasOpen):
      open.removeAll { $0 == link }
      if wasOpen { endings.append(reason) }
    case .adopted(let link, let owner):
      for index in streams.indices where streams[index].link == link {
        streams[index].link = owner
      }
    default: break
    }
  }

  private mutating func flush(_ link: ConnectionID, in network: inout VirtualNetwork) {
    let now = network.now
    if let stream = streams.first(where: { $0.link == link })?.stream {
      while let bytes = members[link.member].pollTransmit(on: link, queued: 0, at: now) {
        network.write(bytes, to: stream)
      }
      if let action = members[link.member].pollLinkAction(on: link) {
        streams.removeAll { $0.stream == stream }
        if action == .cut { network.reset(stream) } else { network.close(stream) }
      }
    }
    var datagram: [UInt8] = []
    while let way = members[link.member].pollDatagram(on: link, into: &datagram, at: now) {
      send(datagram, way, &network)
      datagram.removeAll(keepingCapacity: true)
    }
    members[link.member].didFlush(link, at: now)
  }

  private func send(_ datagram: [UInt8], _ way: Route, _ network: inout VirtualNetwork) {
    if let socket { network.send(datagram, from: socket, to: way.endpoint) }
  }
}

/// A house or one of its guests.
struct GroupNode: VirtualNode {
  var house: VirtualHostGroup?
  var guest: VirtualPeer?

  var nextTimeout: Instant? { house == nil ? guest?.nextTimeout : house?.nextTimeout }

  mutating func start(in network: inout VirtualNetwork) {
    house?.start(in: &network)
    guest?.start(in: &network)
  }

  mutating func handle(_ event: VirtualEvent, in network: inout VirtualNetwork) {
    house?.handle(event, in: &network)
    guest?.handle(event, in: &network)
  }

  mutating func handleTimeout(in network: inout VirtualNetwork) {
    house?.handleTimeout(in: &network)
    guest?.handleTimeout(in: &network)
  }
}
