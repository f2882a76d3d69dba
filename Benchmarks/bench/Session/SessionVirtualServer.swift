import BenchProbe
import Carom

/// A host and its connected peers on virtual time, without sockets. Only what the host itself
/// spends is measured.
struct SessionVirtualServer {
  private static let hostRoute = Route(Endpoint(.loopback4, port: 1))
  private static let input = [UInt8](repeating: 1, count: 60)
  private static let state = [UInt8](repeating: 2, count: 300)

  private var host: Host
  private var peers: [Host] = []
  /// The connections to the host, at the host's side and at the peers' sides.
  private var hostConnections: [ConnectionID] = []
  private var peerConnections: [ConnectionID] = []
  private var now = Instant.zero
  /// The messages that the host reads in place.
  private var arrivals = Arrivals()
  /// Whether valgrind counts the instructions of the calls to the host.
  private var isCounting = false
  /// The bytes that the calls to the host have allocated and not freed.
  private var held = 0
  /// The datagrams of the host in one round, in a buffer that is large enough from the beginning.
  private var sent: [UInt8] = []
  private var ends: [(route: Route, end: Int)] = []

  /// Returns the bytes of memory that the host holds for each of `count` peers that only answer
  /// pings, after 12 s.
  static func heldBytes(of count: Int = 256, areEncrypted: Bool = false) -> Double {
    var server = SessionVirtualServer(count, areEncrypted: areEncrypted)
    server.pass(600)
    return Double(server.held) / Double(count)
  }

  /// Plays a game in which the host receives 60 bytes from each of `count` peers in every tick, and
  /// sends 300 bytes to each. Valgrind, if it runs this process, counts the instructions of the
  /// host in the last `ticks` of these ticks, and only those.
  static func play(_ count: Int, ticks: Int) {
    var server = SessionVirtualServer(count)
    server.pass(100)
    for _ in 0..<200 { server.play() }
    server.isCounting = true
    for _ in 0..<ticks { server.play() }
  }

  private init(_ count: Int, areEncrypted: Bool = false) {
    func security(_ number: Int) -> LinkSecurity? {
      areEncrypted ? SessionCarom.security(number) : nil
    }
    host = Host(
      SessionCarom.peer(1), seats: count, secret: HostSecret(low: 1, high: 2),
      security: security(1))
    for number in 0..<count {
      var peer = Host(
        SessionCarom.peer(number + 2), seats: 0, secret: HostSecret(low: 3, high: 4),
        security: security(number + 2))
      let key = ConnectionKey(prefix: UInt64(number), rest: 5)
      let connection = peer.makeConnectionID()
      peer.connect(connection, to: [Self.hostRoute], key: key, at: now)
      peers.append(peer)
      peerConnections.append(connection)
    }
    arrivals.channels = .all
    sent.reserveCapacity(count * 8 * 1_472)
    ends.reserveCapacity(count * 8)
  }

  /// Lets 20 ms pass `count` times.
  private mutating func pass(_ count: Int) {
    for _ in 0..<count {
      exchange()
      now = now.advanced(by: .milliseconds(20))
    }
    precondition(host.connectionIDs.count == peers.count, "not all peers are connected")
    hostConnections = host.connectionIDs
  }

  /// Plays one tick.
  private mutating func play() {
    now = now.advanced(by: .nanoseconds(16_666_667))
    for index in peers.indices {
      peers[index].handleTimeout(at: now)
      _ = try? peers[index].send(
        Self.input.span, on: 0, SendOptions(.unreliable), to: peerConnections[index], at: now)
    }
    callHost(with: takeDatagrams())
    toggleCounting()
    for connection in hostConnections {
      _ = try? host.send(Self.state.span, on: 0, SendOptions(.unreliable), to: connection, at: now)
    }
    pollHost()
    toggleCounting()
    deliverToPeers()
  }

  /// Begins or ends the counting of instructions around a call to the host.
  private func toggleCounting() {
    if isCounting { bench_toggle_instruction_counting() }
  }

  /// Exchanges datagrams until neither side has anything to send.
  private mutating func exchange() {
    for index in peers.indices { peers[index].handleTimeout(at: now) }
    var datagrams = takeDatagrams()
    callHost(with: datagrams)
    while !datagrams.isEmpty || !ends.isEmpty {
      deliverToPeers()
      datagrams = takeDatagrams()
      callHost(with: datagrams)
    }
  }

  private func route(of peer: Int) -> Route {
    Route(Endpoint(.loopback4, port: UInt16(peer + 2)))
  }

  private mutating func takeDatagrams() -> [(route: Route, bytes: [UInt8])] {
    var result: [(route: Route, bytes: [UInt8])] = []
    for index in peers.indices {
      while let event = peers[index].pollEvent() {
        guard case .connection(let connection, .messages) = event else { continue }
        while peers[index].pollMessage(on: connection, { _, _ in }) {}
      }
      while let connection = peers[index].pollReady() {
        var bytes: [UInt8] = []
        while peers[index].pollDatagram(on: connection, into: &bytes, at: now) != nil {
          result.append((route(of: index), bytes))
          bytes = []
        }
        peers[index].didFlush(connection, at: now)
      }
    }
    return result
  }

  private mutating func callHost(with datagrams: [(route: Route, bytes: [UInt8])]) {
    bench_thread_heap_begin()
    toggleCounting()
    host.handleTimeout(at: now)
    for (route, bytes) in datagrams {
      host.receiveDatagram(bytes.span, from: route, into: &arrivals, at: now)
    }
    arrivals.removeAll()
    while let event = host.pollEvent() {
      switch event {
      case .requested(let connection, _, _): host.admit(connection, at: now)
      case .connection(let connection, .messages):
        while host.pollMessage(on: connection, { _, _ in }) {}
      default: break
      }
    }
    pollHost()
    toggleCounting()
    held += Int(bench_thread_heap_end())
    withExtendedLifetime(datagrams) {}
  }

  /// Takes what the host has to send.
  private mutating func pollHost() {
    while let answer = host.pollStatelessReply() {
      sent.append(contentsOf: answer.bytes)
      ends.append((answer.route, sent.count))
    }
    let stream = host.transmitDatagrams(at: now) { datagram, route in
      sent.append(copying: datagram)
      ends.append((route, sent.count))
    }
    precondition(stream == nil, "no connection has a stream")
  }

  private mutating func deliverToPeers() {
    var datagrams: [UInt8] = []
    swap(&datagrams, &sent)
    var start = 0
    for (route, end) in ends {
      let index = Int(route.endpoint.port) - 2
      peers[index].receiveDatagram(
        datagrams.span.extracting(start..<end), from: Self.hostRoute, at: now)
      start = end
    }
    datagrams.removeAll(keepingCapacity: true)
    swap(&datagrams, &sent)
    ends.removeAll(keepingCapacity: true)
  }
}
