import CaromCore
import CaromProtocol
import CaromTesting
import Testing

/// Feeds a channel set with frames that follow no rules: it must never trap, and its memory must
/// stay within the bounds.
@Suite struct ChannelFuzzTests {
  #if DEBUG
    static let seeds = 4
  #else
    static let seeds = 1000
  #endif

  @Test func `arbitrary frames neither trap nor exceed the memory bounds`() throws {
    try Seeds(Self.seeds).check { seed in
      var generator = SeededGenerator(seed: seed)
      var set = ChannelSet()
      var now = Instant.zero
      for _ in 0..<200 {
        now = now + .milliseconds(Int64.random(in: 0...20, using: &generator))
        let packet = ChannelPair.Packet(bytes: makePacket(&generator), records: [])
        try? ChannelPair.deliver(packet, to: &set, at: now)
        act(&set, &generator, at: now)
        guard set.heldBytes < 24 << 20 else { throw Fault(bytes: set.heldBytes) }
      }
    }
  }

  struct Fault: Error { let bytes: Int }

  /// Makes a packet with arbitrary numbers, total lengths and offsets.
  private func makePacket(_ generator: inout SeededGenerator) -> [UInt8] {
    var writer = FrameWriter(limit: 1400)
    let bytes = [UInt8](repeating: 9, count: 1200)
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      let delivery = Delivery.allCases.randomElement(using: &generator) ?? .unreliable
      let channel = UInt8(Int.random(in: 0...2, using: &generator) * 32)
      let near = UInt64.random(in: 0...8, using: &generator)
      let number = generator.chance(0.9) ? near : UInt64.random(in: 0...70_000, using: &generator)
      let length = Int.random(in: 0...300, using: &generator)
      if generator.chance(0.3) {
        _ = writer.appendMessage(
          delivery, channel: channel, number: number, bytes.span.extracting(0..<length))
      } else if generator.chance(0.1) {
        _ = writer.appendCredit(channel: channel, limit: generator.next())
      } else {
        let total = generator.chance(0.7) ? 600 : Int.random(in: 1...1 << 20, using: &generator)
        let offset = Int.random(in: 0..<total, using: &generator)
        let count = max(1, min(length, total - offset))
        _ = writer.appendFragment(
          delivery, channel: channel, number: number, total: total, offset: offset,
          bytes.span.extracting(0..<count))
      }
    }
    return writer.takeBytes()
  }

  /// Acts as the owner: reads and sends messages, and reports packets that were never sent.
  private func act(_ set: inout ChannelSet, _ generator: inout SeededGenerator, at now: Instant) {
    if generator.chance(0.5) { while set.pollMessage({ _, _, _ in }) {} }
    if generator.chance(0.5) { while set.pollSessionMessage() != nil {} }
    let delivery = Delivery.allCases.randomElement(using: &generator) ?? .unreliable
    let bytes = [UInt8](repeating: 1, count: Int.random(in: 0...3000, using: &generator))
    let deadline = generator.chance(0.3) ? now + .milliseconds(30) : nil
    _ = try? set.send(
      bytes.span, on: UInt8(Int.random(in: 0...64, using: &generator)),
      SendOptions(delivery, deadline: deadline, wantsReceipt: generator.chance(0.5)), at: now)
    for _ in 0..<2 {
      let packet = ChannelPair.fill(
        &set, limit: Int.random(in: 20...1500, using: &generator), redundancy: 2, at: now)
      for record in packet?.records ?? [] {
        var record = record
        if generator.chance(0.1) { record.number = UInt64.random(in: 0...9, using: &generator) }
        if generator.chance(0.5) {
          set.handleAcknowledged(record, at: now)
        } else {
          set.handleLost(record, at: now)
        }
      }
    }
    set.handleTimeout(at: now)
    set.growWindows(roundTrip: 30_000_000, at: now)
    while set.pollEvent() != nil {}
  }
}
