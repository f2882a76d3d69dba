import BenchProbe
import Carom

/// Measures, without sockets, the work that senders with unvalidated addresses can cause at a host.
struct SessionUnvalidatedSenders {
  /// The kind of datagram that is sent.
  enum Kind: String, CaseIterable {
    /// An invalid datagram, which is not answered.
    case bad
    /// An initiator's first datagram, which is answered with a retry.
    case hello
    /// A hello with a forged cookie, which is answered with a retry.
    case forged
  }

  private var host: Host
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var number: UInt32 = 0
  /// The bytes of the received datagrams and of the answers.
  private(set) var received = 0
  private(set) var answered = 0

  private init(isEncrypted: Bool = false) {
    host = Host(
      SessionCarom.peer(1), seats: 1, secret: HostSecret(low: 1, high: 2),
      security: isEncrypted ? SessionCarom.security(1) : nil)
  }

  // Datagrams

  static func datagrams(_ kind: Kind, isEncrypted: Bool = false) -> [[UInt8]] {
    switch kind {
    case .bad: bad(isEncrypted)
    case .hello: [hello(cookie: nil, isEncrypted)]
    case .forged: [hello(cookie: Cookie(bits: 0x0123_4567_89AB_CDEF), isEncrypted)]
    }
  }

  private static func hello(cookie: Cookie?, _ isEncrypted: Bool) -> [UInt8] {
    var writer = FrameWriter(limit: Hello.paddedLength)
    Hello(
      key: ConnectionKey(prefix: 3, rest: 4), epoch: 1, resumes: false, cookie: cookie,
      isSealed: isEncrypted
    ).write(to: &writer)
    return writer.takeBytes()
  }

  /// Invalid datagrams. The most expensive is the one whose last byte is wrong.
  private static func bad(_ isEncrypted: Bool) -> [[UInt8]] {
    var noMagic = hello(cookie: nil, isEncrypted)
    noMagic[1] ^= 0x80
    var badPadding = hello(cookie: nil, isEncrypted)
    badPadding[badPadding.count - 1] = 1
    var retry = FrameWriter(limit: Retry.maximumLength)
    Retry(cookie: Cookie(bits: 5)!, keyPrefix: 7).write(to: &retry)
    let shortData = [0x10] + [UInt8](repeating: 0, count: 28)
    let unknown = [UInt8](repeating: 0xEE, count: 300)
    return [noMagic, badPadding, retry.takeBytes(), shortData, unknown]
  }

  // Costs

  /// Returns the processor time for each datagram, in nanoseconds. Each datagram is sent from
  /// `count` addresses.
  static func nanoseconds(
    of datagrams: [[UInt8]], count: Int = 200_000, isEncrypted: Bool = false
  ) -> Double {
    var senders = SessionUnvalidatedSenders(isEncrypted: isEncrypted)
    senders.send(datagrams, count: 1_000)
    let begin = bench_thread_cpu_nanoseconds()
    senders.send(datagrams, count: count)
    return Double(bench_thread_cpu_nanoseconds() - begin) / Double(count * datagrams.count)
  }

  /// Returns the bytes that a host holds after `count` addresses have sent one datagram of every
  /// kind, without the capacity that its queues reserved for the first thousand.
  static func heldBytes(after count: Int = 100_000) -> Double {
    let datagrams = Kind.allCases.flatMap { Self.datagrams($0) }
    var senders = SessionUnvalidatedSenders()
    senders.send(datagrams, count: 1_000)
    bench_thread_heap_begin()
    senders.send(datagrams, count: count)
    let held = bench_thread_heap_end()
    return withExtendedLifetime((datagrams, senders)) { Double(held) }
  }

  /// Returns the bytes of the answers, divided by the bytes received.
  static func reflection(of kind: Kind) -> Double {
    var senders = SessionUnvalidatedSenders()
    senders.send(datagrams(kind), count: 1_000)
    return Double(senders.answered) / Double(senders.received)
  }

  private mutating func send(_ datagrams: [[UInt8]], count: Int) {
    for _ in 0..<count {
      number &+= 1
      let route = Route(Endpoint(.v4(0x0B00_0000 | number), port: 4_000))
      now = now.advanced(by: .microseconds(1))
      for datagram in datagrams {
        received += datagram.count
        host.receiveDatagram(datagram.span, from: route, at: now)
      }
      while let answer = host.pollStatelessReply() { answered += answer.bytes.count }
    }
  }
}
