import BenchProbe
import Carom

/// Callers who prove their addresses and take seats, without sockets: what that costs the host,
/// from the first hello to the grant that was acknowledged.
struct SessionArrivals {
  private static let together = 32
  private static let hostWay = Route(Endpoint(.loopback4, port: 1))

  private struct Caller {
    var host: Host
    var way: Route
    var isOpen = false
  }

  private var host: Host
  private var callers: [Caller] = []
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var spent: UInt64 = 0
  private var toHost: [(bytes: [UInt8], caller: Int)] = []

  private init(seats: Int) {
    host = Host(SessionCarom.peer(1), seats: seats, secret: HostSecret(low: 1, high: 2))
  }

  /// The host's processor time for each of `count` callers, nanoseconds; of the last hundreds,
  /// when it is almost full, in `late`. `nil` where one was turned away.
  static func nanoseconds(count: Int) -> (all: Double, late: Double)? {
    var arrivals = SessionArrivals(seats: count)
    var late: UInt64 = 0
    for first in stride(from: 0, to: count, by: together) {
      let before = arrivals.spent
      guard arrivals.take(min(together, count - first), from: first) else { return nil }
      if first + 8 * together >= count { late += arrivals.spent - before }
    }
    return (Double(arrivals.spent) / Double(count), Double(late) / Double(8 * together))
  }

  /// Some at a time; whether all of them got in.
  private mutating func take(_ count: Int, from first: Int) -> Bool {
    callers = (0..<count).map { Self.makeCaller(first + $0, at: now) }
    for _ in 0..<20 {
      for index in callers.indices { poll(index) }
      serve()
      now = now.advanced(by: .milliseconds(1))
      for index in callers.indices { callers[index].host.handleTimeout(at: now) }
    }
    return callers.allSatisfy(\.isOpen)
  }

  private static func makeCaller(_ number: Int, at now: Instant) -> Caller {
    var host = Host(
      SessionCarom.peer(number + 2), seats: 0, secret: HostSecret(low: 3, high: 4))
    let key = ConnectionKey(prefix: UInt64(number) + 1, rest: 4)
    let link = host.makeConnectionID()
    host.connect(link, to: [hostWay], key: key, at: now)
    let address = IPAddress.v4(0x0B00_0000 | UInt32(number))
    return Caller(host: host, way: Route(Endpoint(address, port: 4_000)))
  }

  private mutating func poll(_ index: Int) {
    var buffer: [UInt8] = []
    while let event = callers[index].host.pollEvent() {
      if case .connection(_, .opened) = event { callers[index].isOpen = true }
    }
    while let link = callers[index].host.pollReady() {
      while callers[index].host.pollDatagram(on: link, into: &buffer, at: now) != nil {
        toHost.append((buffer, index))
        buffer = []
      }
      callers[index].host.didFlush(link, at: now)
    }
  }

  /// What the host does, which is what counts.
  private mutating func serve() {
    var replies: [(bytes: [UInt8], route: Route)] = []
    let begin = bench_thread_cpu_nanoseconds()
    host.handleTimeout(at: now)
    for datagram in toHost {
      host.receiveDatagram(datagram.bytes.span, from: callers[datagram.caller].way, at: now)
    }
    while let event = host.pollEvent() {
      if case .requested(let link, _, _) = event { host.admit(link, at: now) }
    }
    while let reply = host.pollStatelessReply() { replies.append((reply.bytes, reply.route)) }
    while let link = host.pollReady() {
      var buffer: [UInt8] = []
      while let route = host.pollDatagram(on: link, into: &buffer, at: now) {
        replies.append((buffer, route))
        buffer = []
      }
      host.didFlush(link, at: now)
    }
    spent += bench_thread_cpu_nanoseconds() - begin
    toHost = []
    for reply in replies {
      guard let index = callers.indices.first(where: { callers[$0].way == reply.route }) else {
        continue
      }
      callers[index].host.receiveDatagram(reply.bytes.span, from: Self.hostWay, at: now)
    }
  }
}
