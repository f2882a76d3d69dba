import CaromCore
import CaromCrypto
import CaromProtocol
import FuzzSupport

/// Runs the input as a script of hellos and other datagrams from strangers at a host, in plaintext
/// and with each kind of encryption. Expects that nobody who has not proven an address gets more
/// than three tenths of the bytes back, or a connection.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var script = FuzzScript(fuzzInput(data, count))
  let securities = ScriptSecurity.allCases
  var run = HelloScript(securities[Int(script.next()) % securities.count], script)
  run.run()
  return 0
}

private struct HelloScript {
  private static let secret = HostSecret(low: 1, high: 2)
  /// The number of strangers, each at an address of its own.
  private static let strangers = 4
  /// The maximum number of operations of a script. Its cost is that of the handshakes in it.
  private static let stepLimit = 16
  /// A host with each kind of security that nobody has sent anything to. Each input begins with a
  /// copy of one.
  private static let hosts: [ScriptSecurity: Host] = {
    var hosts: [ScriptSecurity: Host] = [:]
    for security in ScriptSecurity.allCases {
      var host = Host(
        PeerInfo(id: PeerID(high: 0, low: 1), name: "1", application: "fuzz"), seats: 4,
        secret: secret, security: security.makeHostSecurity())
      host.setWallClock(ScriptSecurity.timeOfDay, at: start)
      hosts[security] = host
    }
    return hosts
  }()
  private static let start = Instant(nanoseconds: 1_000_000_000)

  private var host: Host
  private var script: FuzzScript
  private var now = start
  private var received = [Int](repeating: 0, count: strangers)
  private var sent = [Int](repeating: 0, count: strangers)
  /// The strangers that have returned a cookie of their address.
  private var proven: Set<Int> = []
  /// The first messages of handshakes with the host's security settings, for the keys 0 to 3.
  private let openings: [[UInt8]]

  init(_ security: ScriptSecurity, _ script: FuzzScript) {
    self.script = script
    guard let host = Self.hosts[security] else {
      preconditionFailure("there is a host with each kind of security")
    }
    self.host = host
    openings = Openings.all[security] ?? []
  }

  private static func route(of stranger: Int) -> Route {
    Route(Endpoint(.v4(0x0A00_0010 + UInt32(stranger)), port: 9))
  }

  mutating func run() {
    var steps = 0
    while !script.isAtEnd, steps < Self.stepLimit {
      steps += 1
      let operation = script.next()
      let stranger = Int(operation >> 4) % Self.strangers
      switch operation & 7 {
      case 0: deliver(script.read(Int(script.next()) * 5), from: stranger)
      case 1:
        now = now.advanced(byNanoseconds: Int64(script.next()) * 100_000_000)
        while let next = host.nextTimeout, next <= now {
          host.handleTimeout(at: now)
          flush()
        }
        flush()
      default: sendHello(from: stranger)
      }
    }
  }

  private mutating func sendHello(from stranger: Int) {
    let (shape, number, rest) = (script.next(), script.next(), script.next())
    let own = Cookie(for: Self.route(of: stranger).endpoint, secret: Self.secret, at: now)
    var cookie: Cookie?
    switch shape & 3 {
    case 0: break
    case 1: cookie = own
    case 2: cookie = Cookie(bits: UInt64(script.next()) << 8)
    default:
      let other = Self.route(of: (stranger + 1) % Self.strangers).endpoint
      cookie = Cookie(for: other, secret: Self.secret, at: now)
    }
    var hello = Hello(
      version: shape & 4 == 0 ? nil : UInt16(script.next()),
      key: ConnectionKey(prefix: UInt64(number & 3) + 1, rest: 7), epoch: UInt32(number >> 2) & 3,
      resumes: number & 16 != 0, cookie: cookie, isSealed: shape & 8 == 0)
    if shape & 16 != 0, cookie == nil { hello.hasTicket = true }
    if shape & 32 != 0, cookie != nil {
      hello.tag = AuthenticationTag([UInt8](repeating: number, count: AuthenticationTag.length))
    }
    var writer = FrameWriter(limit: 4_096)
    hello.write(to: &writer)
    var datagram = writer.takeBytes()
    if rest & 1 != 0, !openings.isEmpty {
      datagram += openings[Int(number & 3)]
    } else if rest & 2 != 0 {
      datagram += script.read(Int(script.next()))
    }
    for _ in 0..<(rest >> 2) & 3 {
      datagram[(Int(script.next()) << 8 | Int(script.next())) % datagram.count] ^= script.next()
    }
    if rest & 16 != 0 { datagram.removeLast(min(datagram.count, Int(script.next()))) }
    if hello.hasTicket, rest & 32 == 0, datagram.count < Hello.paddedLength {
      datagram += [UInt8](repeating: 0, count: Hello.paddedLength - datagram.count)
    }
    deliver(datagram, from: stranger)
  }

  private mutating func deliver(_ datagram: [UInt8], from stranger: Int) {
    if proves(datagram, from: stranger) { proven.insert(stranger) }
    received[stranger] += datagram.count
    let before = host.connectionIDs.count
    host.receiveDatagram(datagram.span, from: Self.route(of: stranger), at: now)
    flush()
    precondition(
      proven.contains(stranger) || hasTicket(datagram) || host.connectionIDs.count <= before,
      "nobody gets a connection without a proof")
  }

  /// Whether a datagram contains a cookie that the host has made for the sender's address.
  private func proves(_ datagram: [UInt8], from stranger: Int) -> Bool {
    var reader = PacketReader(datagram.span)
    guard case .hello(let hello)? = try? SessionDatagram(decoding: &reader) else { return false }
    return hello.cookie?.isValid(
      for: Self.route(of: stranger).endpoint, secret: Self.secret, at: now) == true
  }

  private func hasTicket(_ datagram: [UInt8]) -> Bool {
    var reader = PacketReader(datagram.span)
    guard case .hello(let hello)? = try? SessionDatagram(decoding: &reader) else { return false }
    return hello.hasTicket
  }

  /// Takes everything that the host sends, and admits nobody.
  private mutating func flush() {
    while host.pollEvent() != nil {}
    while let reply = host.pollStatelessReply() { count(reply.bytes.count, to: reply.route) }
    var datagram: [UInt8] = []
    while let id = host.pollReady() {
      while let route = host.pollDatagram(on: id, into: &datagram, at: now) {
        count(datagram.count, to: route)
        datagram = []
      }
      _ = host.pollLinkAction(on: id)
      host.didFlush(id, at: now)
    }
    for stranger in 0..<Self.strangers where !proven.contains(stranger) {
      precondition(
        sent[stranger] * 10 <= received[stranger] * 3, "too much for somebody without a proof")
    }
  }

  private mutating func count(_ bytes: Int, to route: Route) {
    for stranger in 0..<Self.strangers where route == Self.route(of: stranger) {
      sent[stranger] += bytes
    }
  }
}

/// The first messages of handshakes, as they follow a hello.
private enum Openings {
  static let all: [ScriptSecurity: [[UInt8]]] = {
    var all: [ScriptSecurity: [[UInt8]]] = [:]
    for security in ScriptSecurity.encrypted {
      all[security] = (0..<4).map { make(security, ConnectionKey(prefix: $0 + 1, rest: 7)) }
    }
    return all
  }()

  /// Lets an initiator begin, and returns what follows its first hello that has any.
  private static func make(_ security: ScriptSecurity, _ key: ConnectionKey) -> [UInt8] {
    let now = Instant(nanoseconds: 1_000_000_000)
    var initiator = Host(
      PeerInfo(id: PeerID(high: 0, low: 2), name: "2", application: "fuzz"), seats: 0,
      security: security.makeInitiatorSecurity())
    let id = initiator.makeConnectionID()
    let route = Route(ScriptSecurity.hostEndpoint)
    initiator.connect(id, to: [route], key: key, at: now)
    var datagram: [UInt8] = []
    _ = initiator.pollReady()
    _ = initiator.pollDatagram(on: id, into: &datagram, at: now)
    if security != .token {
      guard let cookie = Cookie(bits: 1) else { preconditionFailure("1 is a cookie") }
      var writer = FrameWriter(limit: Retry.maximumLength)
      Retry(cookie: cookie, keyPrefix: key.prefix).write(to: &writer)
      initiator.receiveDatagram(writer.takeBytes().span, from: route, at: now)
      datagram = []
      _ = initiator.pollReady()
      _ = initiator.pollDatagram(on: id, into: &datagram, at: now)
    }
    var reader = PacketReader(datagram.span)
    guard case .hello(let hello)? = try? SessionDatagram(decoding: &reader),
      datagram.count > hello.length
    else { preconditionFailure("an initiator begins with a hello and its first message") }
    return Array(datagram[hello.length...])
  }
}
