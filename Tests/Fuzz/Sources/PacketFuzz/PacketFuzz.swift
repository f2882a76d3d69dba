import CaromCodec
import CaromCore
import FuzzSupport

/// Checks that a body decodes as a value, an unknown packet or a malformed one, and that encoding
/// the result yields the body.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let body = fuzzInput(data, count)
  var registry = PacketRegistry()
  do {
    try registry.register(Chat.self)
    try registry.register(Mark.self)
  } catch {
    preconditionFailure("\(error)")
  }
  switch registry.decode(body.span) {
  case .value(let mark as Mark, _): precondition(mark.encoded == Array(body.dropFirst(4)))
  case .value: break
  case .unknown(let type, let action, let bytes):
    precondition(Packet(type: type, action: action, payload: bytes).encoded == body)
  case .malformed: precondition(registry.malformedCount == 1)
  }
  return 0
}

private struct Chat: Codable, PacketPayload {
  static let packetType: UInt16 = 1
  var text: String
  var to: [String]?
}

private struct Mark: PacketCodable, PacketPayload {
  static let packetType: UInt16 = 2
  var column: UInt64
  var name: String

  func encode(into writer: inout PacketWriter) {
    writer.writeVarInt(column)
    writer.writeText(name)
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    column = try reader.readVarInt()
    name = try reader.readText(limit: 20)
  }
}
