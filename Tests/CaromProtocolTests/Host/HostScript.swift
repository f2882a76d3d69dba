import CaromCore
import CaromProtocol

/// A host and a caller between whom a script of bytes carries, changes, doubles, drops and invents
/// datagrams and stream bytes, while both send: whatever it does, nothing traps, memory stays
/// within its bounds, and each connection ends at most once.
///
/// A step has an operation byte and what it needs; a script that ends is followed by nothing.
struct HostScript {
  struct Broken: Error, CustomStringConvertible { let description: String }

  /// A connection's credit, queues and reassembly, both directions, and what rounding adds.
  static let memoryLimit = 160 << 20
  static let hostWay = Route(Endpoint(.v4(0x0A00_0001), port: 7777))
  static let callerWay = Route(Endpoint(.v4(0x0A00_0002), port: 5000))

  private var script: ArraySlice<UInt8>
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var host: Host
  private var caller: Host
  private let link: ConnectionID
  private let key = ConnectionKey(prefix: 0x1234, rest: 0x5678)
  private var stream: ConnectionID?
  private var toHost: [[UInt8]] = []
  private var toCaller: [[UInt8]] = []
  private var streamToHost: [UInt8] = []
  private var streamToCaller: [UInt8] = []
  private var endings: [ConnectionID: Int] = [:]
  /// Datagrams and pieces of streams that were taken.
  private(set) var packets = 0

  init(_ script: [UInt8]) {
    self.script = script[...]
    let secret = HostSecret(low: 1, high: 2)
    func info(_ number: UInt64) -> PeerInfo {
      PeerInfo(id: PeerID(high: 0, low: number), name: "\(number)", application: "fuzz")
    }
    host = Host(info(1), seats: 4, secret: secret)
    caller = Host(info(2), seats: 0, secret: secret)
    link = caller.makeConnectionID()
    caller.connect(link, to: [Self.hostWay], key: key, at: now)
  }

  /// Runs the script to its end.
  static func run(_ script: [UInt8]) throws(Broken) -> Int {
    var run = HostScript(script)
    try run.drain()
    for _ in 0..<4 { try run.carryAll() }
    while let operation = run.script.popFirst() { try run.step(operation) }
    return run.packets
  }

  private mutating func byte() -> UInt8 { script.popFirst() ?? 0 }

  private mutating func step(_ operation: UInt8) throws(Broken) {
    switch operation & 15 {
    case 0, 1: try carryAll()
    case 2, 3: try deliver(toTheHost: operation & 16 == 0, changing: Int(operation >> 5))
    case 4: drop(toTheHost: operation & 16 == 0)
    case 5: double(toTheHost: operation & 16 == 0)
    case 6: try invent(operation)
    case 7: try wait(Int64(byte()) * Int64(byte()) * 50_000)
    case 8, 9, 10: try send(operation)
    case 11: try openStream()
    case 12: try carryStream(toTheHost: operation & 16 == 0, changing: operation & 32 != 0)
    case 13: try breakStream()
    case 14: try rebind()
    default: if operation > 240 { try close() } else { try carryAll() }
    }
  }

  // MARK: Datagrams

  private mutating func carryAll() throws(Broken) {
    let (up, down) = (toHost, toCaller)
    toHost = []
    toCaller = []
    for datagram in up { take(datagram, toTheHost: true) }
    for datagram in down { take(datagram, toTheHost: false) }
    try drain()
  }

  private mutating func take(_ datagram: [UInt8], toTheHost: Bool) {
    packets += 1
    if toTheHost {
      host.receiveDatagram(datagram.span, from: Self.callerWay, at: now)
    } else {
      caller.receiveDatagram(datagram.span, from: Self.hostWay, at: now)
    }
  }

  /// Takes one out of those on the way, changes some bytes, and delivers it.
  private mutating func deliver(toTheHost: Bool, changing changes: Int) throws(Broken) {
    guard var datagram = pick(toTheHost: toTheHost) else { return try carryAll() }
    for _ in 0..<changes where !datagram.isEmpty {
      let place = (Int(byte()) << 8 | Int(byte())) % datagram.count
      datagram[place] = byte()
    }
    take(datagram, toTheHost: toTheHost)
    try drain()
  }

  private mutating func pick(toTheHost: Bool) -> [UInt8]? {
    let place = Int(byte())
    if toTheHost {
      return toHost.isEmpty ? nil : toHost.remove(at: place % toHost.count)
    }
    return toCaller.isEmpty ? nil : toCaller.remove(at: place % toCaller.count)
  }

  private mutating func drop(toTheHost: Bool) { _ = pick(toTheHost: toTheHost) }

  private mutating func double(toTheHost: Bool) {
    if toTheHost, let last = toHost.last { toHost.append(last) }
    if !toTheHost, let last = toCaller.last { toCaller.append(last) }
  }

  /// Bytes of nobody's, from a stranger or in the other's name.
  private mutating func invent(_ operation: UInt8) throws(Broken) {
    let count = min(script.count, Int(byte()) * 4)
    let bytes = Array(script.prefix(count))
    script = script.dropFirst(count)
    packets += 1
    let stranger = Route(Endpoint(.v4(0x0A00_0000 | UInt32(operation >> 5)), port: 9))
    let way = operation & 16 == 0 ? Self.callerWay : stranger
    if operation & 64 == 0 {
      host.receiveDatagram(bytes.span, from: way, at: now)
    } else {
      caller.receiveDatagram(bytes.span, from: Self.hostWay, at: now)
    }
    try drain()
  }

  /// What is on the way comes from another address.
  private mutating func rebind() throws(Broken) {
    let other = Route(Endpoint(.v4(0x0A00_0003), port: UInt16(byte()) + 1))
    let up = toHost
    toHost = []
    for datagram in up {
      packets += 1
      host.receiveDatagram(datagram.span, from: other, at: now)
    }
    try drain()
  }

  // MARK: The stream

  private mutating func openStream() throws(Broken) {
    guard stream == nil, caller.connectionIDs.contains(link) else { return }
    let accepted = host.makeConnectionID()
    guard host.accept(accepted, at: now) else { return }
    stream = accepted
    caller.handleStreamConnected(link, key: key, at: now)
    try drain()
  }

  private mutating func carryStream(toTheHost: Bool, changing: Bool) throws(Broken) {
    guard let stream else { return }
    var bytes: [UInt8] = []
    if toTheHost { swap(&bytes, &streamToHost) } else { swap(&bytes, &streamToCaller) }
    if changing, !bytes.isEmpty { bytes[(Int(byte()) << 8 | Int(byte())) % bytes.count] = byte() }
    packets += 1
    if toTheHost {
      host.receive(bytes.span, on: stream, at: now)
    } else {
      caller.receive(bytes.span, on: link, at: now)
    }
    try drain()
  }

  private mutating func breakStream() throws(Broken) {
    guard let broken = stream else { return }
    stream = nil
    streamToHost = []
    streamToCaller = []
    host.handleLinkEnd(.reset, of: broken, at: now)
    caller.handleLinkEnd(.reset, of: link, at: now)
    try drain()
  }

  // MARK: What the owners do

  private mutating func send(_ operation: UInt8) throws(Broken) {
    let delivery = Delivery(rawValue: byte() % 5) ?? .unreliable
    let channel = byte() & 63
    let length = Int(byte()) * (operation & 32 == 0 ? 2 : 300)
    let bytes = [UInt8](repeating: operation, count: length)
    let options = SendOptions(delivery)
    if operation & 16 == 0 {
      _ = try? caller.send(bytes.span, on: channel, options, to: link, at: now)
    } else if let other = host.connectionIDs.first {
      _ = try? host.send(bytes.span, on: channel, options, to: other, at: now)
    }
    try drain()
  }

  private mutating func close() throws(Broken) {
    caller.close(link, Goodbye(.left), at: now)
    try drain()
  }

  private mutating func wait(_ nanoseconds: Int64) throws(Broken) {
    let end = now.advanced(byNanoseconds: nanoseconds)
    var steps = 0
    while let next = earliest(host.nextTimeout, caller.nextTimeout), next <= end {
      now = max(now, next)
      host.handleTimeout(at: now)
      caller.handleTimeout(at: now)
      try drain()
      steps += 1
      if steps > 100_000 { throw Broken(description: "the same timeout for ever") }
    }
    now = end
    try drain()
  }

  private mutating func drain() throws(Broken) {
    var rounds = 0
    repeat {
      try tellHost()
      tellCaller()
      flushHost()
      flushCaller()
      rounds += 1
      if rounds > 10_000 { throw Broken(description: "events without end") }
    } while host.hasEvents || caller.hasEvents
    // What is on its way without being carried is lost.
    if toHost.count > 512 { toHost.removeFirst(toHost.count - 512) }
    if toCaller.count > 512 { toCaller.removeFirst(toCaller.count - 512) }
  }

  private mutating func tellHost() throws(Broken) {
    while let event = host.pollEvent() {
      switch event {
      case .requested(let link, _, _): host.admit(link, at: now)
      case .connection(let link, .messages): while host.pollMessage(on: link, { _, _ in }) {}
      case .adopted(let old, let owner): if stream == old { stream = owner }
      case .closed(let link, _, _, _):
        endings[link, default: 0] += 1
        if endings[link] != 1 { throw Broken(description: "a connection ended twice") }
      default: break
      }
    }
    for link in host.connectionIDs where host.heldBytes(of: link) > Self.memoryLimit {
      throw Broken(description: "a connection holds \(host.heldBytes(of: link)) bytes")
    }
  }

  private mutating func tellCaller() {
    while let event = caller.pollEvent() {
      if case .connection(let link, .messages) = event {
        while caller.pollMessage(on: link, { _, _ in }) {}
      }
    }
  }

  private mutating func flushHost() {
    var datagram: [UInt8] = []
    while let answer = host.pollStatelessReply() { toCaller.append(answer.bytes) }
    while let ready = host.pollReady() {
      while host.pollTransmit(on: ready, queued: 0, into: &streamToCaller, at: now) {}
      if host.pollLinkAction(on: ready) != nil { stream = nil }
      while host.pollDatagram(on: ready, into: &datagram, at: now) != nil {
        toCaller.append(datagram)
        datagram = []
      }
      host.didFlush(ready, at: now)
    }
  }

  private mutating func flushCaller() {
    var datagram: [UInt8] = []
    while let answer = caller.pollStatelessReply() { toHost.append(answer.bytes) }
    while let ready = caller.pollReady() {
      while caller.pollTransmit(on: ready, queued: 0, into: &streamToHost, at: now) {}
      _ = caller.pollLinkAction(on: ready)
      while caller.pollDatagram(on: ready, into: &datagram, at: now) != nil {
        toHost.append(datagram)
        datagram = []
      }
      caller.didFlush(ready, at: now)
    }
  }
}
