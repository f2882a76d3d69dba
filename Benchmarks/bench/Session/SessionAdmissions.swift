import BenchProbe
import Carom

/// Measures, without sockets, how much processor time a host spends to admit a client: from its
/// first hello, over the validation of its address, to the acknowledgement of its seat.
struct SessionAdmissions {
  private static let groupSize = 32
  private static let hostRoute = Route(Endpoint(.loopback4, port: 1))

  private struct Client {
    var host: Host
    var route: Route
    var isOpen = false
  }

  private var host: Host
  private var clients: [Client] = []
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var spent: UInt64 = 0
  private var toHost: [(bytes: [UInt8], client: Int)] = []

  private init(seats: Int) {
    host = Host(SessionCarom.peer(1), seats: seats, secret: HostSecret(low: 1, high: 2))
  }

  /// Returns the host's processor time for each of `count` clients, in nanoseconds: `all` is the
  /// mean of all clients, `late` that of the last 256, when the host is almost full. The result is
  /// `nil` if a client was refused.
  static func nanoseconds(count: Int) -> (all: Double, late: Double)? {
    var admissions = SessionAdmissions(seats: count)
    var late: UInt64 = 0
    for first in stride(from: 0, to: count, by: groupSize) {
      let before = admissions.spent
      guard admissions.connect(min(groupSize, count - first), from: first) else { return nil }
      if first + 8 * groupSize >= count { late += admissions.spent - before }
    }
    return (Double(admissions.spent) / Double(count), Double(late) / Double(8 * groupSize))
  }

  /// Connects `count` clients at the same time and returns whether all of them got a seat.
  private mutating func connect(_ count: Int, from first: Int) -> Bool {
    clients = (0..<count).map { Self.makeClient(first + $0, at: now) }
    for _ in 0..<20 {
      for index in clients.indices { poll(index) }
      serve()
      now = now.advanced(by: .milliseconds(1))
      for index in clients.indices { clients[index].host.handleTimeout(at: now) }
    }
    return clients.allSatisfy(\.isOpen)
  }

  private static func makeClient(_ number: Int, at now: Instant) -> Client {
    var host = Host(
      SessionCarom.peer(number + 2), seats: 0, secret: HostSecret(low: 3, high: 4))
    let key = ConnectionKey(prefix: UInt64(number) + 1, rest: 4)
    let connection = host.makeConnectionID()
    host.connect(connection, to: [hostRoute], key: key, at: now)
    let address = IPAddress.v4(0x0B00_0000 | UInt32(number))
    return Client(host: host, route: Route(Endpoint(address, port: 4_000)))
  }

  private mutating func poll(_ index: Int) {
    var buffer: [UInt8] = []
    while let event = clients[index].host.pollEvent() {
      if case .connection(_, .opened) = event { clients[index].isOpen = true }
    }
    while let connection = clients[index].host.pollReady() {
      while clients[index].host.pollDatagram(on: connection, into: &buffer, at: now) != nil {
        toHost.append((buffer, index))
        buffer = []
      }
      clients[index].host.didFlush(connection, at: now)
    }
  }

  /// Runs the host's part of the exchange, whose processor time is measured.
  private mutating func serve() {
    var replies: [(bytes: [UInt8], route: Route)] = []
    let begin = bench_thread_cpu_nanoseconds()
    host.handleTimeout(at: now)
    for datagram in toHost {
      host.receiveDatagram(datagram.bytes.span, from: clients[datagram.client].route, at: now)
    }
    while let event = host.pollEvent() {
      if case .requested(let connection, _, _) = event { host.admit(connection, at: now) }
    }
    while let reply = host.pollStatelessReply() { replies.append((reply.bytes, reply.route)) }
    while let connection = host.pollReady() {
      var buffer: [UInt8] = []
      while let route = host.pollDatagram(on: connection, into: &buffer, at: now) {
        replies.append((buffer, route))
        buffer = []
      }
      host.didFlush(connection, at: now)
    }
    spent += bench_thread_cpu_nanoseconds() - begin
    toHost = []
    for reply in replies {
      guard let index = clients.indices.first(where: { clients[$0].route == reply.route }) else {
        continue
      }
      clients[index].host.receiveDatagram(reply.bytes.span, from: Self.hostRoute, at: now)
    }
  }
}
