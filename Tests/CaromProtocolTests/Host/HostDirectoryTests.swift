import CaromCore
import Testing

@testable import CaromProtocol

/// What the hosts of a group share.
@Suite struct HostDirectoryTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func makeKey(_ number: UInt64) -> ConnectionKey {
    ConnectionKey(prefix: number, rest: 1)
  }

  private func makeID(_ number: UInt64, at member: Int = 0) -> ConnectionID {
    ConnectionID(ConnectionID.beginning(of: member).number + number)
  }

  @Test func `the ids of each member's connections are its own`() {
    for member in [0, 1, 7] {
      var host = Host(makePeer(1), seats: 1, member: member)
      let (first, second) = (host.makeConnectionID(), host.makeConnectionID())
      #expect(first.number == UInt64(member) << 48 + 1 && second.number == first.number + 1)
      #expect(first.member == member && second.member == member)
    }
  }

  @Test func `a key is pending, then owned, then ended or unknown`() {
    var directory = HostDirectory(seats: 1)
    let key = makeKey(1)
    #expect(directory.state(of: key) == .unknown)
    directory.recordInitiator(key, at: 2)
    #expect(directory.state(of: key) == .pending(member: 2))
    directory.recordInitiator(key, at: 3)
    #expect(directory.state(of: key) == .pending(member: 3), "the newest host counts")
    let id = makeID(1, at: 3)
    directory.claim(key, for: id)
    #expect(directory.state(of: key) == .owned(id) && directory.owners.count == 1)
    directory.recordInitiator(key, at: 1)
    directory.release(key, of: makeID(9), wasAnswered: true, at: .zero)
    #expect(directory.state(of: key) == .owned(id), "only its owner releases a key")
    directory.release(key, of: id, wasAnswered: true, at: .zero)
    #expect(directory.state(of: key) == .ended && directory.owners.count == 0)
    directory.recordInitiator(key, at: 1)
    #expect(directory.state(of: key) == .ended, "an ended connection is not started again")

    let other = makeKey(2)
    directory.claim(other, for: id)
    directory.release(other, of: id, wasAnswered: false, at: .zero)
    #expect(directory.state(of: other) == .unknown, "the connection was never open")
  }

  @Test func `the last 1,024 ended keys and the last 1,024 initiators are remembered`() {
    var directory = HostDirectory(seats: 1)
    for number in 1...1_025 as ClosedRange<UInt64> {
      directory.recordInitiator(makeKey(5_000 + number), at: 1)
      directory.claim(makeKey(number), for: makeID(number))
      directory.release(makeKey(number), of: makeID(number), wasAnswered: true, at: .zero)
      #expect(directory.memory.isComplete(at: .zero) == (number < 1_025))
    }
    // The key that was forgotten matters while a cookie that its connection had may be valid.
    #expect(!directory.memory.isComplete(at: .zero + .nanoseconds(31_999_999_999)))
    #expect(directory.memory.isComplete(at: .zero + .seconds(32)))
    #expect(directory.state(of: makeKey(1)) == .unknown)
    #expect(directory.state(of: makeKey(5_001)) == .unknown)
    for number in 2...1_025 as ClosedRange<UInt64> {
      #expect(directory.state(of: makeKey(number)) == .ended)
      #expect(directory.state(of: makeKey(5_000 + number)) == .pending(member: 1))
    }
  }

  @Test func `a host that waits for its directory queues at most 256 hellos`() {
    var host = Host(makePeer(1), seats: 1, member: 0)
    for number in 1...300 as ClosedRange<UInt64> {
      let source = Route(Endpoint(.loopback4, port: UInt16(number)))
      var hello = Hello(key: makeKey(number), epoch: 1, resumes: false, cookie: nil)
      if number % 2 == 0 {
        hello.cookie = Cookie(for: source.endpoint, secret: host.secret, at: now)
      }
      var writer = FrameWriter(limit: Hello.paddedLength)
      hello.write(to: &writer)
      host.receiveDatagram(writer.span, from: source, at: now)
    }
    #expect(host.directoryRequests.count == 256)
    #expect(host.connectionIDs.isEmpty, "the directory decides")
    var directory = HostDirectory(seats: 1)
    host.resolveRequests(with: &directory, at: now)
    #expect(!host.hasDirectoryRequests)
    #expect(host.connectionIDs.count == 128 && directory.owners.count == 128)
    #expect(directory.state(of: makeKey(1)) == .pending(member: 0))
    #expect(directory.state(of: makeKey(2)) == .owned(makeID(1)))
  }

  /// Other tests use these limits by their names.
  @Test func `the limits on tokens, connections and packets are those of the protocol`() {
    #expect(IssuedTokens.window == 16_384)
    #expect(Host.connectionLimit == 4_096)
    #expect(SessionLink.queueLimit == 131_072)
    #expect(StreamPath.mostUnacknowledged == 65_536 && StreamPath.controlLimit == 65_536)
  }

  @Test func `a host is idle once all connections have ended and sent what is due`() throws {
    var pair = DatagramPair()
    #expect(pair.host.isIdle)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    pair.exchange()
    #expect(!pair.host.isIdle && !pair.client.isIdle)
    pair.client.close(pair.id, Goodbye(.left), at: pair.now)
    #expect(!pair.client.isIdle)
    pair.exchange()
    #expect(pair.client.isIdle && pair.client.connectionIDs.isEmpty)
    #expect(pair.host.isIdle && pair.host.connectionIDs.count == 1, "it may still answer")
  }
}
