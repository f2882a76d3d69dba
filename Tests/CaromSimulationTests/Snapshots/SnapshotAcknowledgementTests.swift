import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct SnapshotAcknowledgementTests {
  private func makeBytes(_ acknowledgement: SnapshotAcknowledgement) -> [UInt8] {
    var writer = PacketWriter()
    acknowledgement.encode(into: &writer)
    return writer.bytes
  }

  @Test func `an acknowledgement takes one byte or three`() throws {
    for (newest, earlier, count) in [(200, 0xFF, 1), (200, 0xFFFF, 3), (130, 0, 3), (2, 3, 3)] {
      let tick = Tick(UInt64(newest))
      let acknowledgement = SnapshotAcknowledgement(newest: tick, earlier: UInt16(earlier))
      let bytes = makeBytes(acknowledgement)
      #expect(bytes.count == count)
      var reader = PacketReader(bytes.span)
      let sent = Tick(UInt64(newest) + 100)
      #expect(try SnapshotAcknowledgement(decoding: &reader, sent: sent) == acknowledgement)
    }
  }

  @Test func `a receiver without snapshots requests a full one`() throws {
    let bytes = makeBytes(SnapshotAcknowledgement(newest: nil))
    var reader = PacketReader(bytes.span)
    #expect(try SnapshotAcknowledgement(decoding: &reader, sent: Tick(9)).wantsKeyframe)
  }

  @Test func `an acknowledgement names the newest of the 128 ticks up to the one sent last`() throws
  {
    for (sent, tick) in [(500, 500), (500, 373), (130, 3), (5, 0)] as [(UInt64, UInt64)] {
      var writer = PacketWriter()
      SnapshotAcknowledgement(newest: Tick(tick), earlier: 5).encode(into: &writer)
      #expect(writer.bytes == [UInt8(tick & 127) << 1 | 1, 5, 0])
      var reader = PacketReader(writer.bytes.span)
      let read = try SnapshotAcknowledgement(decoding: &reader, sent: Tick(sent))
      #expect(read.newest == Tick(tick) && read.earlier == 5 && !read.wantsKeyframe)
    }
    for bytes in [[12, 0, 0], [0x0D, 0xFF, 0]] as [[UInt8]] {
      var reader = PacketReader(bytes.span)
      #expect(throws: DecodeError.invalid(what: "snapshot acknowledgement")) {
        try SnapshotAcknowledgement(decoding: &reader, sent: Tick(5))
      }
    }
    #expect(SnapshotAcknowledgement(newest: nil, earlier: 7).earlier == 0)
  }

  @Test func `a receiver that lacks a base requests a full snapshot until it has one`() throws {
    let schema = EntitySchema(.integer(0...9))
    let table = makeTable(schema, [(1, [5])])
    var sender = SnapshotSender(schema: schema)
    var receiver = SnapshotReceiver(schema: schema)
    try receiver.receive(sender.encode(table, at: Tick(1)).span)
    sender.acknowledge(Tick(1))
    sender.encode(table, at: Tick(2))  // lost
    try receiver.receive(sender.encode(table, at: Tick(3)).span)
    sender.acknowledge(Tick(2))
    let based = sender.encode(table, at: Tick(4))
    #expect(throws: SnapshotError.missingBase(Tick(2))) { try receiver.receive(based.span) }
    #expect(makeBytes(receiver.acknowledgement) == [1, 0xFF, 0])
    sender.acknowledge(receiver.acknowledgement)
    try receiver.receive(sender.encode(table, at: Tick(5)).span)
    #expect(receiver.acknowledgement.newest == Tick(5))
    #expect(receiver.entities == table)
  }

  @Test func `every decoded acknowledgement encodes to the same bytes`() {
    for first in UInt8.min...UInt8.max {
      for second in [UInt8(0), 1, 0xFF] {
        for third in [UInt8(0), 0xFF] {
          let bytes = first & 1 == 0 ? [first] : [first, second, third]
          var reader = PacketReader(bytes.span)
          let read = try? SnapshotAcknowledgement(decoding: &reader, sent: Tick(500))
          if let read { #expect(makeBytes(read) == bytes) }
        }
      }
    }
  }
}
