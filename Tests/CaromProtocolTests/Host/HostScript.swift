import CaromCore
import CaromProtocol

/// Runs a script of bytes between a host and an initiator. The script delivers, changes,
/// duplicates, drops and forges datagrams and stream bytes while both sides send messages. The
/// expectation: nothing traps, memory stays within its bounds, and each connection ends at most
/// once.
///
/// Each step is one operation byte and its operands; missing operands are 0.
struct HostScript {
  struct Broken: Error, CustomStringConvertible { let description: String }

  /// The maximum number of bytes that one connection may hold: its credit, queues and reassembly in
  /// both directions, with a margin for rounding.
  static let memoryLimit = 160 << 20
  static let hostRoute = Route(ScriptSecurity.hostEndpoint)
  static let initiatorRoute = Route(Endpoint(.v4(0x0A00_0002), port: 5000))

  private var script: ArraySlice<UInt8>
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var host: Host
  private var initiator: Host
  private let id: ConnectionID
  private let key = ConnectionKey(prefix: 0x1234, rest: 0x5678)
  private var stream: ConnectionID?
  private var hostQueue: [[UInt8]] = []
  private var initiatorQueue: [[UInt8]] = []
  private var streamToHost: [UInt8] = []
  private var streamToInitiator: [UInt8] = []
  private var endings: [ConnectionID: Int] = [:]
  /// The number of datagrams and stream chunks that were delivered.
  private(set) var packets = 0

  init(_ script: [UInt8], _ security: ScriptSecurity) {
    self.script = script[...]
    let secret = HostSecret(low: 1, high: 2)
    func info(_ number: UInt64) -> PeerInfo {
      PeerInfo(id: PeerID(high: 0, low: number), name: "\(number)", application: "fuzz")
    }
    host = Host(info(1), seats: 4, secret: secret, security: security.makeHostSecurity())
    host.setWallClock(ScriptSecurity.timeOfDay, at: now)
    initiator = Host(
      info(2), seats: 0, secret: secret, security: security.makeInitiatorSecurity())
    id = initiator.makeConnectionID()
    initiator.connect(id, to: [Self.hostRoute], key: key, at: now)
  }

  /// Runs a script to its end and returns the number of packets that were delivered. The connection
  /// is open when the script begins.
  static func run(_ script: [UInt8], _ security: ScriptSecurity = .none) throws(Broken) -> Int {
    var run = HostScript(script, security)
    try run.drain()
    for _ in 0..<(security == .none ? 4 : 6) { try run.deliverAll() }
    guard run.initiator.isOpen(run.id) else {
      throw Broken(description: "the connection does not open")
    }
    while let operation = run.script.popFirst() { try run.step(operation) }
    return run.packets
  }

  private mutating func byte() -> UInt8 { script.popFirst() ?? 0 }

  private mutating func step(_ operation: UInt8) throws(Broken) {
    switch operation & 15 {
    case 0, 1: try deliverAll()
    case 2, 3: try deliver(toHost: operation & 16 == 0, changing: Int(operation >> 5))
    case 4: drop(toHost: operation & 16 == 0)
    case 5: duplicate(toHost: operation & 16 == 0)
    case 6: try forge(operation)
    case 7: try wait(Int64(byte()) * Int64(byte()) * 50_000)
    case 8, 9, 10: try send(operation)
    case 11: try openStream()
    case 12: try deliverStream(toHost: operation & 16 == 0, changing: operation & 32 != 0)
    case 13: try breakStream()
    case 14: try rebind()
    default: if operation > 240 { try close() } else { try deliverAll() }
    }
  }

  // MARK: Datagrams

  private mutating func deliverAll() throws(Broken) {
    let (up, down) = (hostQueue, initiatorQueue)
    hostQueue = []
    initiatorQueue = []
    for datagram in up { try receive(datagram, toHost: true) }
    for datagram in down { try receive(datagram, toHost: false) }
    try drain()
  }

  /// Delivers a datagram. The host adds the messages of some channels to `Arrivals`.
  private mutating func receive(_ datagram: [UInt8], toHost: Bool) throws(Broken) {
    packets += 1
    if toHost {
      var arrivals = Arrivals()
      for channel in UInt8(0)..<64 where Int(channel) % 4 < packets % 4 {
        arrivals.channels.insert(channel)
      }
      host.receiveDatagram(
        datagram.span, from: Self.initiatorRoute, into: &arrivals, at: now)
      var opened: [UInt8] = []
      host.swapOpened(&opened)
      for message in arrivals.messages {
        // The messages of encrypted datagrams lie in the buffer of decrypted packets.
        let buffer = message.datagram < 0 ? opened : datagram
        guard arrivals.channels.contains(message.channel),
          message.offset > (message.datagram < 0 ? -1 : 0),
          message.length >= 0, Int(message.offset) + Int(message.length) <= buffer.count
        else { throw Broken(description: "a message lies outside its datagram") }
        let start = Int(message.offset)
        let bytes = buffer.span.extracting(start..<start + Int(message.length))
        if message.delivery.needsCredit, packets % 5 == 0 { host.park(message, bytes) }
      }
      host.swapOpened(&opened)
    } else {
      initiator.receiveDatagram(datagram.span, from: Self.hostRoute, at: now)
    }
  }

  /// Removes one datagram in flight, changes some of its bytes, and delivers it.
  private mutating func deliver(toHost: Bool, changing changes: Int) throws(Broken) {
    guard var datagram = pick(toHost: toHost) else { return try deliverAll() }
    for _ in 0..<changes where !datagram.isEmpty {
      let index = (Int(byte()) << 8 | Int(byte())) % datagram.count
      datagram[index] = byte()
    }
    try receive(datagram, toHost: toHost)
    try drain()
  }

  private mutating func pick(toHost: Bool) -> [UInt8]? {
    let index = Int(byte())
    if toHost {
      return hostQueue.isEmpty ? nil : hostQueue.remove(at: index % hostQueue.count)
    }
    return initiatorQueue.isEmpty ? nil : initiatorQueue.remove(at: index % initiatorQueue.count)
  }

  private mutating func drop(toHost: Bool) { _ = pick(toHost: toHost) }

  private mutating func duplicate(toHost: Bool) {
    if toHost, let last = hostQueue.last { hostQueue.append(last) }
    if !toHost, let last = initiatorQueue.last { initiatorQueue.append(last) }
  }

  /// Delivers forged bytes, from an unknown address or from that of the other side.
  private mutating func forge(_ operation: UInt8) throws(Broken) {
    let count = min(script.count, Int(byte()) * 4)
    let bytes = Array(script.prefix(count))
    script = script.dropFirst(count)
    packets += 1
    let stranger = Route(Endpoint(.v4(0x0A00_0000 | UInt32(operation >> 5)), port: 9))
    let route = operation & 16 == 0 ? Self.initiatorRoute : stranger
    if operation & 64 == 0 {
      host.receiveDatagram(bytes.span, from: route, at: now)
    } else {
      initiator.receiveDatagram(bytes.span, from: Self.hostRoute, at: now)
    }
    try drain()
  }

  /// Delivers all datagrams in flight to the host from another address.
  private mutating func rebind() throws(Broken) {
    let other = Route(Endpoint(.v4(0x0A00_0003), port: UInt16(byte()) + 1))
    let up = hostQueue
    hostQueue = []
    for datagram in up {
      packets += 1
      host.receiveDatagram(datagram.span, from: other, at: now)
    }
    try drain()
  }

  // MARK: The stream

  private mutating func openStream() throws(Broken) {
    guard stream == nil, initiator.connectionIDs.contains(id) else { return }
    let accepted = host.makeConnectionID()
    guard host.accept(accepted, at: now) else { return }
    stream = accepted
    initiator.handleStreamConnected(id, key: key, at: now)
    try drain()
  }

  private mutating func deliverStream(toHost: Bool, changing: Bool) throws(Broken) {
    guard let stream else { return }
    var bytes: [UInt8] = []
    if toHost { swap(&bytes, &streamToHost) } else { swap(&bytes, &streamToInitiator) }
    if changing, !bytes.isEmpty { bytes[(Int(byte()) << 8 | Int(byte())) % bytes.count] = byte() }
    packets += 1
    if toHost {
      host.receive(bytes.span, on: stream, at: now)
    } else {
      initiator.receive(bytes.span, on: id, at: now)
    }
    try drain()
  }

  private mutating func breakStream() throws(Broken) {
    guard let broken = stream else { return }
    stream = nil
    streamToHost = []
    streamToInitiator = []
    host.handleLinkEnd(.reset, of: broken, at: now)
    initiator.handleLinkEnd(.reset, of: id, at: now)
    try drain()
  }

  // MARK: Owners

  private mutating func send(_ operation: UInt8) throws(Broken) {
    let delivery = Delivery(rawValue: byte() % 5) ?? .unreliable
    let channel = byte() & 63
    let length = Int(byte()) * (operation & 32 == 0 ? 2 : 300)
    let bytes = [UInt8](repeating: operation, count: length)
    let options = SendOptions(delivery)
    if operation & 16 == 0 {
      _ = try? initiator.send(bytes.span, on: channel, options, to: id, at: now)
    } else if let other = host.connectionIDs.first {
      _ = try? host.send(bytes.span, on: channel, options, to: other, at: now)
    }
    try drain()
  }

  private mutating func close() throws(Broken) {
    initiator.close(id, Goodbye(.left), at: now)
    try drain()
  }

  private mutating func wait(_ nanoseconds: Int64) throws(Broken) {
    let end = now.advanced(byNanoseconds: nanoseconds)
    var steps = 0
    while let next = earliest(host.nextTimeout, initiator.nextTimeout), next <= end {
      now = max(now, next)
      host.handleTimeout(at: now)
      initiator.handleTimeout(at: now)
      try drain()
      steps += 1
      if steps > 100_000 { throw Broken(description: "a timeout repeats without end") }
    }
    now = end
    try drain()
  }

  private mutating func drain() throws(Broken) {
    var rounds = 0
    repeat {
      try handleHostEvents()
      handleInitiatorEvents()
      flushHost()
      flushInitiator()
      rounds += 1
      if rounds > 10_000 { throw Broken(description: "the events do not end") }
    } while host.hasEvents || initiator.hasEvents
    // Drop the oldest datagrams in flight, so that memory stays bounded.
    if hostQueue.count > 512 { hostQueue.removeFirst(hostQueue.count - 512) }
    if initiatorQueue.count > 512 { initiatorQueue.removeFirst(initiatorQueue.count - 512) }
  }

  private mutating func handleHostEvents() throws(Broken) {
    while let event = host.pollEvent() {
      switch event {
      case .requested(let id, _, _): host.admit(id, at: now)
      case .connection(let id, .messages): while host.pollMessage(on: id, { _, _ in }) {}
      case .adopted(let old, let owner): if stream == old { stream = owner }
      case .closed(let id, _, _, _):
        endings[id, default: 0] += 1
        if endings[id] != 1 { throw Broken(description: "a connection ended twice") }
      default: break
      }
    }
    for id in host.connectionIDs where host.heldBytes(of: id) > Self.memoryLimit {
      throw Broken(description: "a connection holds \(host.heldBytes(of: id)) bytes")
    }
  }

  private mutating func handleInitiatorEvents() {
    while let event = initiator.pollEvent() {
      if case .connection(let id, .messages) = event {
        while initiator.pollMessage(on: id, { _, _ in }) {}
      }
    }
  }

  private mutating func flushHost() {
    var datagram: [UInt8] = []
    while let reply = host.pollStatelessReply() { initiatorQueue.append(reply.bytes) }
    while let ready = host.pollReady() {
      var bytes: [UInt8] = []
      while host.pollTransmit(on: ready, queued: 0, at: now, { bytes.append(copying: $0) }) {}
      streamToInitiator += bytes
      if host.pollLinkAction(on: ready) != nil { stream = nil }
      while host.pollDatagram(on: ready, into: &datagram, at: now) != nil {
        initiatorQueue.append(datagram)
        datagram = []
      }
      host.didFlush(ready, at: now)
    }
  }

  private mutating func flushInitiator() {
    var datagram: [UInt8] = []
    while let reply = initiator.pollStatelessReply() { hostQueue.append(reply.bytes) }
    while let ready = initiator.pollReady() {
      var bytes: [UInt8] = []
      while initiator.pollTransmit(on: ready, queued: 0, at: now, { bytes.append(copying: $0) }) {}
      streamToHost += bytes
      _ = initiator.pollLinkAction(on: ready)
      while initiator.pollDatagram(on: ready, into: &datagram, at: now) != nil {
        hostQueue.append(datagram)
        datagram = []
      }
      initiator.didFlush(ready, at: now)
    }
  }
}
