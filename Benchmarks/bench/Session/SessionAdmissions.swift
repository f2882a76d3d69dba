import BenchProbe
import Carom

/// Measures, without sockets, how much processor time a host spends to admit a client: from its
/// first hello, over the validation of its address and the handshake, to the acknowledgement of its
/// seat.
struct SessionAdmissions {
  private static let groupSize = 32
  private static let hostRoute = Route(SessionSeat.hostEndpoint)

  private struct Client {
    var host: Host
    var route: Route
    var isOpen = false
  }

  private let seat: SessionSeat
  private var host: Host
  private var clients: [Client] = []
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var spent: UInt64 = 0
  private var toHost: [(bytes: [UInt8], client: Int)] = []
  /// What both sides have sent until each client had its seat.
  private var counts = SessionSeatCounts()

  private init(_ seat: SessionSeat, seats: Int) {
    self.seat = seat
    host = Host(
      SessionCarom.peer(1), seats: seats, secret: HostSecret(low: 1, high: 2),
      security: seat.makeHostSecurity())
    host.setWallClock(SessionSeat.timeOfDay, at: now)
  }

  /// Returns what a seat takes on the network; nil if the client was refused.
  static func count(_ seat: SessionSeat) -> SessionSeatCounts? {
    var admissions = SessionAdmissions(seat, seats: 1)
    return admissions.connect(1, from: 0) ? admissions.counts : nil
  }

  /// Returns the host's processor time for each of `count` clients, in nanoseconds: `all` is the
  /// mean of all clients, `late` that of the last 256, when the host is almost full. The result is
  /// `nil` if a client was refused.
  static func nanoseconds(
    _ seat: SessionSeat = .plaintext, count: Int
  ) -> (all: Double, late: Double)? {
    var admissions = SessionAdmissions(seat, seats: count)
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
    clients = (0..<count).map { makeClient(first + $0) }
    for _ in 0..<20 {
      for index in clients.indices { poll(index) }
      serve()
      // The next clients come when the host may begin as many handshakes again.
      let pause = Double(Self.groupSize) / seat.rate / 20
      now = now.advanced(by: max(.milliseconds(1), .seconds(pause)))
      for index in clients.indices { clients[index].host.handleTimeout(at: now) }
    }
    return clients.allSatisfy(\.isOpen)
  }

  private func makeClient(_ number: Int) -> Client {
    var host = Host(
      SessionCarom.peer(number + 2), seats: 0, secret: HostSecret(low: 3, high: 4),
      security: seat.makeClientSecurity(number + 2))
    let key = ConnectionKey(prefix: UInt64(number) + 1, rest: 4)
    let connection = host.makeConnectionID()
    host.connect(connection, to: [Self.hostRoute], key: key, hostKey: seat.hostKey, at: now)
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
        count(buffer, of: index)
        buffer = []
      }
      clients[index].host.didFlush(connection, at: now)
    }
  }

  /// Counts a datagram of either side, unless the client has its seat.
  private mutating func count(_ datagram: [UInt8], of client: Int) {
    guard !clients[client].isOpen else { return }
    counts.datagrams += 1
    counts.bytes += Double(datagram.count)
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
      count(reply.bytes, of: index)
      clients[index].host.receiveDatagram(reply.bytes.span, from: Self.hostRoute, at: now)
    }
  }
}
