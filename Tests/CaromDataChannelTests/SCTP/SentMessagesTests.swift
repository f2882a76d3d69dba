import CaromCore
import Testing

@testable import CaromDataChannel

@Suite struct SentMessagesTests {
  private static let first = TSN(0xFFFF_FFFE)

  private static func makeSent(_ count: Int, window: UInt32 = 100_000) -> SentMessages {
    var sent = SentMessages(first: first, peerWindow: window)
    for _ in 0..<count { _ = sent.append(size: 100, at: .zero) }
    return sent
  }

  private static func tsn(_ offset: Int) -> TSN { first.advanced(by: offset) }

  @Test func `a cumulative acknowledgement settles messages across the wrap`() {
    var sent = Self.makeSent(5)
    #expect(sent.outstandingBytes == 500)
    #expect(sent.acknowledge(through: Self.tsn(2), peerWindow: 100_000) == true)
    #expect(sent.outstandingBytes == 200)
    #expect(sent.acknowledge(through: Self.tsn(1), peerWindow: 0) == false)
    #expect(sent.acknowledge(through: Self.tsn(5), peerWindow: 0) == false)
    #expect(sent.outstandingBytes == 200)
    #expect(sent.acknowledge(through: Self.tsn(4), peerWindow: 0) == true)
    #expect(sent.outstandingBytes == 0 && sent.deadline == nil)
  }

  @Test func `a message is abandoned when three later ones are acknowledged`() {
    var sent = Self.makeSent(6)
    #expect(sent.acknowledge(through: Self.tsn(0), peerWindow: 100_000) == true)
    #expect(sent.acknowledge(from: Self.tsn(2), through: Self.tsn(3)) == true)
    #expect(sent.abandonOvertaken() == false)
    #expect(!sent.owesForward)
    #expect(sent.acknowledge(from: Self.tsn(4), through: Self.tsn(4)) == true)
    #expect(sent.abandonOvertaken() == true)
    #expect(sent.owesForward)
    #expect(sent.abandonedThrough == Self.tsn(4))
    #expect(sent.outstandingBytes == 100)
    #expect(sent.abandonOvertaken() == false)
    #expect(sent.acknowledge(through: Self.tsn(4), peerWindow: 100_000) == true)
    #expect(!sent.owesForward)
  }

  @Test func `everything is abandoned a second after the latest message`() {
    var sent = Self.makeSent(3)
    let deadline = Instant.zero + .seconds(1)
    #expect(sent.deadline == deadline)
    #expect(sent.abandonOutstanding(at: Instant(nanoseconds: deadline.nanoseconds - 1)) == false)
    #expect(sent.abandonOutstanding(at: deadline) == true)
    #expect(sent.abandonedThrough == Self.tsn(2) && sent.outstandingBytes == 0)
    #expect(sent.deadline == nil)
  }

  @Test func `the peer's window and the window of numbers limit what is in flight`() {
    var sent = Self.makeSent(0, window: 250)
    #expect(sent.hasRoom(for: 1_200), "one message may always be in flight")
    for _ in 0..<2 { _ = sent.append(size: 100, at: .zero) }
    #expect(sent.hasRoom(for: 50) && !sent.hasRoom(for: 51))
    #expect(sent.acknowledge(through: Self.tsn(1), peerWindow: 0) == true)
    #expect(sent.hasRoom(for: 100))
    _ = sent.append(size: 100, at: .zero)
    #expect(!sent.hasRoom(for: 1))

    let full = Self.makeSent(1_024, window: 1_000_000)
    #expect(!full.hasRoom(for: 1))
    #expect(Self.makeSent(1_023, window: 1_000_000).hasRoom(for: 1))
  }
}
