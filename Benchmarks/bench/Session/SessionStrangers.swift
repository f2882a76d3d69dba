import BenchProbe
import Carom

/// What those whose address is not proven can make a host do, without sockets.
struct SessionStrangers {
  /// What they send.
  enum Kind: String, CaseIterable {
    /// Nothing that makes sense; nobody answers it.
    case bad
    /// What a caller sends first; it is answered.
    case hello
    /// A cookie that was made up; it is answered.
    case forged
  }

  private var host = Host(SessionCarom.peer(1), seats: 1, secret: HostSecret(low: 1, high: 2))
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var number: UInt32 = 0
  /// Bytes of what came, and of what was answered.
  private(set) var received = 0
  private(set) var answered = 0

  // What they send

  static func datagrams(_ kind: Kind) -> [[UInt8]] {
    switch kind {
    case .bad: bad
    case .hello: [hello(cookie: nil)]
    case .forged: [hello(cookie: Cookie(bits: 0x0123_4567_89AB_CDEF))]
    }
  }

  private static func hello(cookie: Cookie?) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    Hello(key: ConnectionKey(prefix: 3, rest: 4), epoch: 1, resumes: false, cookie: cookie)
      .write(to: &writer)
    return writer.takeBytes()
  }

  /// The dearest is the one whose last byte is wrong.
  private static var bad: [[UInt8]] {
    var noMagic = hello(cookie: nil)
    noMagic[1] ^= 1
    var badPadding = hello(cookie: nil)
    badPadding[badPadding.count - 1] = 1
    var retry = FrameWriter(limit: Retry.maximumLength)
    Retry(cookie: Cookie(bits: 5)!, keyPrefix: 7).write(to: &retry)
    let shortData = [0x10] + [UInt8](repeating: 0, count: 28)
    let unknown = [UInt8](repeating: 0xEE, count: 300)
    return [noMagic, badPadding, retry.takeBytes(), shortData, unknown]
  }

  // What that costs

  /// Processor time of a datagram, nanoseconds, from `count` addresses each.
  static func nanoseconds(of datagrams: [[UInt8]], count: Int = 200_000) -> Double {
    var strangers = SessionStrangers()
    strangers.send(datagrams, count: 1_000)
    let begin = bench_thread_cpu_nanoseconds()
    strangers.send(datagrams, count: count)
    return Double(bench_thread_cpu_nanoseconds() - begin) / Double(count * datagrams.count)
  }

  /// Bytes that a host holds after `count` strangers have sent everything, beyond those that its
  /// queues took for the first of them.
  static func heldBytes(after count: Int = 100_000) -> Double {
    let datagrams = Kind.allCases.flatMap(datagrams)
    var strangers = SessionStrangers()
    strangers.send(datagrams, count: 1_000)
    bench_thread_heap_begin()
    strangers.send(datagrams, count: count)
    let held = bench_thread_heap_end()
    return withExtendedLifetime((datagrams, strangers)) { Double(held) }
  }

  /// Bytes that are answered for each that came.
  static func reflection(of kind: Kind) -> Double {
    var strangers = SessionStrangers()
    strangers.send(datagrams(kind), count: 1_000)
    return Double(strangers.answered) / Double(strangers.received)
  }

  private mutating func send(_ datagrams: [[UInt8]], count: Int) {
    for _ in 0..<count {
      number &+= 1
      let way = Route(Endpoint(.v4(0x0B00_0000 | number), port: 4_000))
      now = now.advanced(by: .microseconds(1))
      for datagram in datagrams {
        received += datagram.count
        host.receiveDatagram(datagram.span, from: way, at: now)
      }
      while let answer = host.pollStatelessReply() { answered += answer.bytes.count }
    }
  }
}
