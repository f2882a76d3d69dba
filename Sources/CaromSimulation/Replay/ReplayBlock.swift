import CaromCore

/// A piece of a replay file after its header: kind u8, the body's length as a `VarInt`, the body.
///
/// A keyframe (1): the state's hash u64, then the state as its `PacketCodable` has it. It stands at
/// the tick that the blocks before it lead to, and the packing of inputs begins anew after it.
/// Inputs (2): the count of ticks u8, 1 to 120; each player's run, bit by bit one after the other,
/// the last byte filled up with zeros; the low 32 bits of the hash that the state then has. The end
/// (3): the count of all ticks as a `VarInt`, and the last state's hash u64. Nothing follows it.
enum ReplayBlock: UInt8 {
  case keyframe = 1
  case inputs = 2
  case end = 3

  /// The longest body, bytes.
  static let limit = 1 << 24
  /// The most ticks in a block of inputs.
  static let ticks = 120

  /// Appends the head of a block.
  func begin(_ length: Int, into writer: inout PacketWriter) {
    writer.append(rawValue)
    writer.writeVarInt(UInt64(length))
  }

  /// Reads the head of a block and says how long its body is, which is there.
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
