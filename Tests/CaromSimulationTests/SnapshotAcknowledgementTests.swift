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
