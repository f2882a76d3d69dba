import CaromCodec
import CaromCore
import Testing

@testable import CaromProtocol

/// The order of messages and the goodbye on a stream.
@Suite struct GoodbyeTests {
  @Test(arguments: [(1, ChannelLimits.messageLength), (6_000, 0), (6_000, 100)])
  func `a goodbye on a stream waits for messages that wait for credit or acknowledgements`(
    count: Int, length: Int
  ) throws {
    var pair = ConnectionPair.opened()
    let message = [UInt8](repeating: 7, count: length)
    for _ in 0..<count { try pair.host.send(message, on: 0, at: pair.now) }
    pair.host.close(Goodbye(.finished), as: .finished, at: pair.now)
    pair.exchange()
    pair.run(for: SessionTiming().closeLimit / 2)
    #expect(pair.clientMessages.count == count)
    #expect(pair.clientEvents.endings == [.finished])
    #expect(nextLinkAction(&pair.host) == .closeAfterFlush)
  }

  @Test func `a goodbye on a stream waits until 50 ms before the limit, and not longer`() throws {
    var pair = ConnectionPair.opened()
    let message = [UInt8](repeating: 7, count: ChannelLimits.messageLength)
    try pair.host.send(message, on: 0, at: pair.now)
    pair.host.close(Goodbye(.left), at: pair.now)
    while pair.host.pollStream(queued: 0, at: pair.now) != nil {}
    let limit = pair.now + .milliseconds(950)
    #expect(pair.host.nextTimeout == limit)
    pair.host.handleTimeout(at: limit)
    let sent = pair.host.pollStream(queued: 0, at: limit)
    #expect(sent == ControlPacket.goodbye(Goodbye(.left)).packet.framed())
    #expect(nextLinkAction(&pair.host) == .closeAfterFlush)
    #expect(pair.host.isClosed)
  }

  @Test func `a side that is closing neither delivers nor acknowledges messages on a stream`()
    throws
  {
    var pair = ConnectionPair.opened()
    let message = [UInt8](repeating: 7, count: ChannelLimits.messageLength)
    try pair.host.send(message, on: 0, at: pair.now)
    let options = SendOptions(.reliableOrdered, wantsReceipt: true)
    try pair.client.send([1].span, on: 1, options, at: pair.now)
    pair.host.close(Goodbye(.left), at: pair.now)
    pair.exchange()
    pair.run(for: .milliseconds(500))
    #expect(pair.hostMessages.isEmpty)
    #expect(pair.clientMessages == [message])
    let receipts = pair.clientEvents.count {
      if case .channel(.receipt(_, _, delivered: true)) = $0 { true } else { false }
    }
    #expect(receipts == 0)
  }
}
