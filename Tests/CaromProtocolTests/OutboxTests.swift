import Testing

@testable import CaromProtocol

@Suite struct OutboxTests {
  @Test func `more channels than there is room for can be used one after the other`() {
    var outbox = Outbox()
    let payload: [UInt8] = [7]
    for channel in 0..<UInt16(3 * Outbox.latestChannelLimit) {
      outbox.replace(payload.span, on: channel)
      var bytes: [UInt8] = []
      #expect(takes(&outbox, into: &bytes))
      #expect(bytes.count == 13)
      #expect(outbox.isEmpty)
    }
  }

  @Test func `at most so many latest-wins channels wait at a time`() {
    var outbox = Outbox()
    let payload: [UInt8] = [7]
    for channel in 0...UInt16(Outbox.latestChannelLimit) {
      outbox.replace(payload.span, on: channel)
    }
    var bytes: [UInt8] = []
    #expect(takes(&outbox, into: &bytes))
    #expect(bytes.count == 13 * Outbox.latestChannelLimit)
  }

  @Test func `large messages leave in pieces`() {
    var outbox = Outbox()
    let payload = [UInt8](repeating: 7, count: 100_000)
    outbox.replace(payload.span, on: 0)
    var bytes: [UInt8] = []
    var pieces = 0
    while takes(&outbox, into: &bytes) { pieces += 1 }
    #expect(pieces == 2)
    #expect(bytes.count == 100_012)
  }

  @Test func `a queue that never runs dry keeps no more than twice its limit`() {
    var outbox = Outbox()
    let payload = [UInt8](repeating: 7, count: SessionLink.pieceLength - 12)
    for _ in 0..<4 { outbox.append(type: 2, action: 0, payload: payload.span) }
    var bytes: [UInt8] = []
    for _ in 0..<200 {
      outbox.append(type: 2, action: 0, payload: payload.span)
      bytes.removeAll(keepingCapacity: true)
      #expect(takes(&outbox, into: &bytes))
      #expect(outbox.keptBytes <= 2 * Outbox.reliableLimit)
    }
    #expect(outbox.reliableCount == 4 * SessionLink.pieceLength)
  }

  private func takes(_ outbox: inout Outbox, into bytes: inout [UInt8]) -> Bool {
    outbox.take(queued: 0, into: &bytes)
  }
}
