import CaromCore
import CaromCrypto
import CaromProtocol
import FuzzSupport

/// Runs a script in which somebody between a host and an initiator sees, changes, drops, repeats,
/// reflects and forges what they send to begin an encrypted connection, over datagrams, a stream or
/// both. Expects that nothing traps, that both sides learn nobody's id but the other's, and that
/// nothing arrives that the other side has not sent.
///
/// The two sides are values, so a script can begin with a copy of a handshake at any stage; see
/// `Stages`. It is short, because its cost is that of the public-key operations that it reaches.
struct HandshakeScript {
  /// The links over which the initiator begins.
  enum Links: CaseIterable { case datagrams, stream, both }

  /// The maximum number of operations of a script.
  private static let stepLimit = 12
  private static let hostRoute = Route(ScriptSecurity.hostEndpoint)
  private static let initiatorRoute = Route(Endpoint(.v4(0x0A00_0002), port: 5000))
  private static let key = ConnectionKey(prefix: 0x1234, rest: 0x5678)
  /// What each side sends once it is open, and the longest line that may be in flight.
  private static let (fromHost, fromInitiator) = ([UInt8](1...5), [UInt8](6...9))
  private static let limit = 64

  private var script: FuzzScript
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var host: Host
  private var initiator: Host
  private let id: ConnectionID
  /// The key that the host is said to have; nil if nothing is said.
  private let hostKey: PublicKey?
  /// Whether the initiator has begun its connection, over datagrams or a stream.
  private var hasBegun = false
  private var stream: ConnectionID?
  private var toHost: [[UInt8]] = []
  private var toInitiator: [[UInt8]] = []
  private var bytesToHost: [UInt8] = []
  private var bytesToInitiator: [UInt8] = []
  /// Datagrams that were delivered or dropped, to be repeated.
  private var seen: [[UInt8]] = []
  /// The host's connections on which it has sent its message, and whether the initiator has.
  private var greeted: Set<ConnectionID> = []
  private var hasGreeted = false

  /// Creates a host and an initiator that has begun its connection.
  init(_ security: ScriptSecurity, _ links: Links, hostKey: PublicKey? = nil) {
    script = FuzzScript([])
    self.hostKey = hostKey
    func info(_ number: UInt64) -> PeerInfo {
      PeerInfo(id: PeerID(high: 0, low: number), name: "\(number)", application: "fuzz")
    }
    host = Host(
      info(1), seats: 4, secret: HostSecret(low: 1, high: 2),
      security: security.makeHostSecurity())
    host.setWallClock(ScriptSecurity.timeOfDay, at: now)
    initiator = Host(info(2), seats: 0, security: security.makeInitiatorSecurity())
    id = initiator.makeConnectionID()
    if links != .stream {
      hasBegun = true
      initiator.connect(id, to: [Self.hostRoute], key: Self.key, hostKey: hostKey, at: now)
    }
    drain()
    if links != .datagrams { openStream() }
  }

  /// Runs a script from the current stage on.
  mutating func run(_ script: FuzzScript) {
    self.script = script
    var steps = 0
    while !self.script.isAtEnd, steps < Self.stepLimit {
      step(self.script.next())
      steps += 1
    }
  }

  /// Delivers something that is in flight. Returns false if nothing is.
  mutating func deliverSomething() -> Bool {
    if !toHost.isEmpty {
      deliverNext(true)
    } else if !toInitiator.isEmpty {
      deliverNext(false)
    } else if stream != nil, !bytesToHost.isEmpty {
      deliverBytes(true, isChanged: false)
    } else if stream != nil, !bytesToInitiator.isEmpty {
      deliverBytes(false, isChanged: false)
    } else {
      return false
    }
    return true
  }

  private mutating func step(_ operation: UInt8) {
    let isUp = operation & 16 == 0
    switch operation & 15 {
    case 0, 1: deliverNext(isUp)
    case 2, 3: deliverNext(isUp, isChanged: true)
    case 4: if let datagram = next(isUp) { keep(datagram) }
    case 5: repeatSeen(isUp)
    case 6: receive(script.read(Int(script.next()) * 2), isUp: isUp)
    case 7: wait(Int64(script.next()) * 10_000_000)
    case 8, 9: deliverBytes(isUp, isChanged: false)
    case 10: deliverBytes(isUp, isChanged: true)
    case 11: forgeBytes(isUp)
    case 12: breakStream()
    case 13: openStream()
    case 14: moveSender()
    default: for _ in 0..<8 { deliverAll() }
    }
  }

  // MARK: Datagrams

  private mutating func deliverAll() {
    while let datagram = next(true) { receive(datagram, isUp: true) }
    while let datagram = next(false) { receive(datagram, isUp: false) }
    deliverBytes(true, isChanged: false)
    deliverBytes(false, isChanged: false)
  }

  private mutating func next(_ isUp: Bool) -> [UInt8]? {
    if isUp { return toHost.isEmpty ? nil : toHost.removeFirst() }
    return toInitiator.isEmpty ? nil : toInitiator.removeFirst()
  }

  private mutating func keep(_ datagram: [UInt8]) {
    if seen.count < Self.limit { seen.append(datagram) }
  }

  private mutating func deliverNext(_ isUp: Bool, isChanged: Bool = false) {
    guard var datagram = next(isUp) else { return wait(1_000_000) }
    keep(datagram)
    if isChanged { change(&datagram) }
    receive(datagram, isUp: isUp)
  }

  private mutating func change(_ bytes: inout [UInt8]) {
    let operation = script.next()
    switch operation & 3 {
    case 0, 1:
      for _ in 0...(operation >> 2) & 3 where !bytes.isEmpty {
        bytes[(Int(script.next()) << 8 | Int(script.next())) % bytes.count] ^= script.next()
      }
    case 2: bytes.removeLast(min(bytes.count, Int(script.next())))
    default: bytes += script.read(Int(script.next()))
    }
  }

  /// Delivers a datagram again that has been seen, in either direction.
  private mutating func repeatSeen(_ isUp: Bool) {
    guard !seen.isEmpty else { return }
    receive(seen[Int(script.next()) % seen.count], isUp: isUp)
  }

  private mutating func receive(_ datagram: [UInt8], isUp: Bool) {
    if isUp {
      host.receiveDatagram(datagram.span, from: Self.initiatorRoute, at: now)
    } else {
      initiator.receiveDatagram(datagram.span, from: Self.hostRoute, at: now)
    }
    drain()
  }

  /// Delivers the next datagram from another address.
  private mutating func moveSender() {
    guard let datagram = next(true) else { return }
    let other = Route(Endpoint(.v4(0x0A00_0003), port: UInt16(script.next()) + 1))
    host.receiveDatagram(datagram.span, from: other, at: now)
    drain()
  }

  // MARK: The stream

  private mutating func openStream() {
    let accepted = host.makeConnectionID()
    guard stream == nil, initiator.connectionIDs.contains(id) || !hasBegun,
      host.accept(accepted, at: now)
    else { return }
    stream = accepted
    hasBegun = true
    initiator.handleStreamConnected(id, key: Self.key, hostKey: hostKey, at: now)
    drain()
  }

  private mutating func deliverBytes(_ isUp: Bool, isChanged: Bool) {
    guard let stream else { return }
    var bytes: [UInt8] = []
    if isUp { swap(&bytes, &bytesToHost) } else { swap(&bytes, &bytesToInitiator) }
    if isChanged { change(&bytes) }
    if isUp {
      host.receive(bytes.span, on: stream, at: now)
    } else {
      initiator.receive(bytes.span, on: id, at: now)
    }
    drain()
  }

  /// Inserts bytes of the script before the bytes in flight, either in a frame or as they are.
  private mutating func forgeBytes(_ isUp: Bool) {
    var bytes = script.read(Int(script.next()))
    if script.next() & 1 == 0 {
      var writer = PacketWriter()
      writer.write(UInt64(bytes.count))
      bytes = writer.bytes + bytes
    }
    if isUp {
      bytesToHost = bytes + bytesToHost
    } else {
      bytesToInitiator = bytes + bytesToInitiator
    }
    deliverBytes(isUp, isChanged: false)
  }

  private mutating func breakStream() {
    guard let broken = stream else { return }
    stream = nil
    (bytesToHost, bytesToInitiator) = ([], [])
    host.handleLinkEnd(.reset, of: broken, at: now)
    initiator.handleLinkEnd(.reset, of: id, at: now)
    drain()
  }

  // MARK: Owners

  private mutating func wait(_ nanoseconds: Int64) {
    let end = now.advanced(byNanoseconds: nanoseconds)
    var steps = 0
    while let next = earliest(host.nextTimeout, initiator.nextTimeout), next <= end {
      now = max(now, next)
      host.handleTimeout(at: now)
      initiator.handleTimeout(at: now)
      drain()
      steps += 1
      precondition(steps < 100_000, "a timeout repeats without end")
    }
    now = end
    drain()
  }

  private mutating func drain() {
    var rounds = 0
    repeat {
      handleHostEvents()
      handleInitiatorEvents()
      greet()
      flushHost()
      flushInitiator()
      rounds += 1
      precondition(rounds < 10_000, "the events do not end")
    } while host.hasEvents || initiator.hasEvents
    if toHost.count > Self.limit { toHost.removeFirst(toHost.count - Self.limit) }
    if toInitiator.count > Self.limit { toInitiator.removeFirst(toInitiator.count - Self.limit) }
  }

  private mutating func handleHostEvents() {
    let expected = initiator.local.id
    while let event = host.pollEvent() {
      switch event {
      case .requested(let id, let peer, _):
        precondition(peer.id == expected, "somebody else requests a seat")
        host.admit(id, at: now)
      case .connection(let id, .messages):
        while host.pollMessage(
          on: id,
          { _, bytes in
            precondition(
              Array(copying: bytes) == Self.fromInitiator, "a message that nobody has sent")
          })
        {}
      case .adopted(let old, let owner): if stream == old { stream = owner }
      default: break
      }
    }
    precondition(host.connectionIDs.count < 1_100, "too many connections")
  }

  private mutating func handleInitiatorEvents() {
    while let event = initiator.pollEvent() {
      guard case .connection(let id, .messages) = event else { continue }
      while initiator.pollMessage(
        on: id,
        { _, bytes in
          precondition(Array(copying: bytes) == Self.fromHost, "a message that nobody has sent")
        })
      {}
    }
  }

  /// Sends one message on each connection that has opened since the last call, in both directions.
  private mutating func greet() {
    for id in host.connectionIDs where host.isOpen(id) && greeted.insert(id).inserted {
      _ = try? host.send(
        Self.fromHost.span, on: 1, SendOptions(.reliableOrdered), to: id, at: now)
    }
    guard initiator.isOpen(id), !hasGreeted else { return }
    hasGreeted = true
    precondition(
      initiator.openPeer(of: id)?.id == host.local.id, "somebody else pretends to be the host")
    _ = try? initiator.send(
      Self.fromInitiator.span, on: 1, SendOptions(.reliableOrdered), to: id, at: now)
  }

  private mutating func flushHost() {
    while let reply = host.pollStatelessReply() { toInitiator.append(reply.bytes) }
    while let ready = host.pollReady() {
      var bytes: [UInt8] = []
      while host.pollTransmit(on: ready, queued: 0, at: now, { bytes.append(copying: $0) }) {}
      if ready == stream { bytesToInitiator += bytes }
      if host.pollLinkAction(on: ready) != nil, ready == stream { stream = nil }
      var datagram: [UInt8] = []
      while host.pollDatagram(on: ready, into: &datagram, at: now) != nil {
        toInitiator.append(datagram)
        datagram = []
      }
      host.didFlush(ready, at: now)
    }
  }

  private mutating func flushInitiator() {
    while let ready = initiator.pollReady() {
      var bytes: [UInt8] = []
      while initiator.pollTransmit(on: ready, queued: 0, at: now, { bytes.append(copying: $0) }) {}
      bytesToHost += bytes
      _ = initiator.pollLinkAction(on: ready)
      var datagram: [UInt8] = []
      while initiator.pollDatagram(on: ready, into: &datagram, at: now) != nil {
        toHost.append(datagram)
        datagram = []
      }
      initiator.didFlush(ready, at: now)
    }
  }
}
