import CaromCodec
import Testing

private struct OneImportPoint: PacketCodable, Equatable {
  var x: UInt16
  func encode(into writer: inout PacketWriter) { writer.write(x) }
  init(x: UInt16) { self.x = x }
  init(decoding reader: inout PacketReader) throws(DecodeError) { x = try reader.read() }
}

@Test func `a packet type needs no import but the codec's`() throws {
  #expect(try OneImportPoint(decoding: OneImportPoint(x: 7).encoded.span) == OneImportPoint(x: 7))
}
