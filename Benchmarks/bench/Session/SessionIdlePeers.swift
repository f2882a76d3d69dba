import BenchProbe
import Carom

/// Measures, without sockets and on virtual time, the memory that a host holds for each connected
/// peer that only answers pings.
struct SessionIdlePeers {
  private static let hostRoute = Route(Endpoint(.loopback4, port: 1))

  private var host: Host
  private var initiators: [Host] = []
  private var now = Instant.zero
  /// The bytes that the calls to the host have allocated and not freed.
  private var held = 0
  /// The datagrams of the host in one round, in a buffer that is large enough from the beginning.
  private var sent: [UInt8] = []
  private var ends: [(route: Route, end: Int)] = []

  /// Returns the bytes of memory for each of `count` peers, after 12 s.
  static func heldBytes(of count: Int = 256, areEncrypted: Bool = false) -> Double {
    var peers = SessionIdlePeers(count, areEncrypted: areEncrypted)
    for _ in 0..<600 {
      peers.exchange()
      peers.now = peers.now.advanced(by: .milliseconds(20))
    }
    precondition(peers.host.connectionIDs.count == count)
    return Double(peers.held) / Double(count)
  }

  private init(_ count: Int, areEncrypted: Bool) {
    func security(_ number: Int) -> LinkSecurity? {
      areEncrypted ? SessionCarom.security(number) : nil
    }
    host = Host(
      SessionCarom.peer(1), seats: count, secret: HostSecret(low: 1, high: 2),
      security: security(1))
    for number in 0..<count {
      var initiator = Host(
        SessionCarom.peer(number + 2), seats: 0, secret: HostSecret(low: 3, high: 4),
        security: security(number + 2))
      let key = ConnectionKey(prefix: UInt64(number), rest: 5)
      initiator.connect(initiator.makeConnectionID(), to: [Self.hostRoute], key: key, at: now)
      initiators.append(initiator)
    }
    sent.reserveCapacity(count * 8 * 1_472)
    ends.reserveCapacity(count * 8)
  }

  /// Exchanges datagrams until neither side has anything to send.
  private mutating func exchange() {
    for index in initiators.indices { initiators[index].handleTimeout(at: now) }
    var datagrams = takeDatagrams()
    callHost(with: datagrams)
    while !datagrams.isEmpty || !ends.isEmpty {
      deliverToInitiators()
      datagrams = takeDatagrams()
      callHost(with: datagrams)
    }
  }

  private func route(of initiator: Int) -> Route {
    Route(Endpoint(.loopback4, port: UInt16(initiator + 2)))
  }

  private mutating func takeDatagrams() -> [(route: Route, bytes: [UInt8])] {
    var result: [(route: Route, bytes: [UInt8])] = []
    for index in initiators.indices {
      while initiators[index].pollEvent() != nil {}
      while let connection = initiators[index].pollReady() {
        var bytes: [UInt8] = []
        while initiators[index].pollDatagram(on: connection, into: &bytes, at: now) != nil {
          result.append((route(of: index), bytes))
          bytes = []
        }
        initiators[index].didFlush(connection, at: now)
      }
    }
    return result
  }

  private mutating func callHost(with datagrams: [(route: Route, bytes: [UInt8])]) {
    bench_thread_heap_begin()
    host.handleTimeout(at: now)
    for (route, bytes) in datagrams { host.receiveDatagram(bytes.span, from: route, at: now) }
    while let event = host.pollEvent() {
      if case .requested(let connection, _, _) = event { host.admit(connection, at: now) }
    }
    while let answer = host.pollStatelessReply() {
      sent.append(contentsOf: answer.bytes)
      ends.append((answer.route, sent.count))
    }
    while let connection = host.pollReady() {
      while let route = host.pollDatagram(on: connection, into: &sent, at: now) {
        ends.append((route, sent.count))
      }
      host.didFlush(connection, at: now)
    }
    held += Int(bench_thread_heap_end())
    withExtendedLifetime(datagrams) {}
  }

  private mutating func deliverToInitiators() {
    var datagrams: [UInt8] = []
    swap(&datagrams, &sent)
    var start = 0
    for (route, end) in ends {
      let index = Int(route.endpoint.port) - 2
      initiators[index].receiveDatagram(
        datagrams.span.extracting(start..<end), from: Self.hostRoute, at: now)
      start = end
    }
    datagrams.removeAll(keepingCapacity: true)
    swap(&datagrams, &sent)
    ends.removeAll(keepingCapacity: true)
  }
}
