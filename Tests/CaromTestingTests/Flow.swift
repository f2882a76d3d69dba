import CaromCore
import CaromTesting

/// A flow of datagrams sent at regular intervals from one host to another, and their arrivals.
struct Flow {
  struct Arrival: Equatable {
    let number: Int
    let time: Instant
    let length: Int
    /// The time since the datagram was sent.
    let delay: Duration
    let source: Endpoint
  }

  /// The number of datagrams for statistical tests; smaller in debug builds, which are slow.
  #if DEBUG
    static let many = 6_000
  #else
    static let many = 100_000
  #endif

  private(set) var network: VirtualNetwork
  let a: VirtualHost
  let b: VirtualHost
  private(set) var arrivals: [Arrival] = []

  /// Sends `count` datagrams of `size` bytes, one every `spacing`. Each begins with its number.
  init(
    _ conditions: LinkConditions, count: Int, every spacing: Duration = .milliseconds(1),
    size: Int = 100, isV6: Bool = false, seed: UInt64 = 1, traced: Bool = false
  ) {
    network = VirtualNetwork(seed: seed)
    network.recordsQueues = true
    if traced { network.trace = Trace() }
    (a, b) = (network.addHost(), network.addHost())
    network.setConditions(conditions, from: a, to: b)
    let from = network.bind(a)
    _ = network.bind(b, port: 9)
    let destination = Endpoint(isV6 ? b.v6 : b.v4, port: 9)
    for number in 0..<count {
      let time = Instant.zero + spacing * number
      collect(until: time, spacing: spacing)
      network.advance(to: time)
      network.send(Self.payload(number, size: size), from: from, to: destination)
    }
    collect(until: .distantFuture, spacing: spacing)
  }

  var counters: LinkCounters { network.counters(from: a, to: b) }

  static func payload(_ number: Int, size: Int) -> [UInt8] {
    var writer = PacketWriter(capacity: size)
    writer.writeBigEndian(UInt32(number))
    return writer.bytes + [UInt8](repeating: 0, count: size - 4)
  }

  private mutating func collect(until time: Instant, spacing: Duration) {
    while let event = network.nextEvent(notAfter: time) {
      guard case .datagram(let datagram, _) = event else { continue }
      let number = datagram.payload.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      arrivals.append(
        Arrival(
          number: number, time: network.now, length: datagram.payload.count,
          delay: network.now - (.zero + spacing * number), source: datagram.source))
    }
  }
}

/// Whether a count of random events is within five standard deviations of its mean. A correct count
/// fails once in two million seeds; the tests have fixed seeds.
func isLikely(_ count: Int, of total: Int, at chance: Double, spread: Double = 1) -> Bool {
  let mean = Double(total) * chance
  let deviation = (mean * (1 - chance) * spread).squareRoot()
  return (Double(count) - mean).magnitude <= 5 * deviation + 1
}
