import CaromCore

/// The blocks that follow the header of a replay file. Layout of a block: kind u8; the length of
/// the body as a `VarInt`; the body.
///
/// A keyframe (1): the state's hash u64, then the `PacketCodable` encoding of the state. Its tick
/// follows from the blocks before it, and the encoding of inputs restarts after it. Inputs (2): the
/// number of ticks u8, 1 to 120; the players' runs as one sequence of bits, with the last byte
/// padded with zeros; the low 32 bits of the hash of the resulting state. The end (3): the total
/// number of ticks as a `VarInt`, and the last state's hash u64. Nothing follows the end.
enum ReplayBlock: UInt8 {
  case keyframe = 1
  case inputs = 2
  case end = 3

  /// The maximum length of a body in bytes.
  static let limit = 1 << 24
  /// The maximum number of ticks in a block of inputs.
  static let ticks = 120

  /// Appends the kind of a block and the length of its body.
  func begin(_ length: Int, into writer: inout PacketWriter) {
    writer.append(rawValue)
    writer.writeVarInt(UInt64(length))
  }

  /// Reads the kind of a block and the length of its body. Throws if the body is not complete.
  static func begin(
    _ reader: inout PacketReader
  ) throws(DecodeError) -> (kind: ReplayBlock, length: Int) {
    guard let kind = ReplayBlock(rawValue: try reader.read()) else {
      throw .invalid(what: "replay block")
    }
    let length = try reader.readVarInt()
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: UInt64(limit)) }
    guard length <= UInt64(reader.remaining) else {
      throw .truncated(wanted: Int(length), remaining: reader.remaining)
    }
    return (kind, Int(length))
  }
}
