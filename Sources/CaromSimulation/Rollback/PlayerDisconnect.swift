import CaromCore

/// A message with the last inputs of a disconnected player. The remaining peers exchange it so that
/// all of them continue with the same inputs.
///
/// Layout: the player u8; flags u8, bit 0 set if the sender has the receiver's message about this
/// player; the tick of the first input u64; the number of inputs u8, 0 to 127; then the encoded
/// inputs, without context.
struct PlayerDisconnect: Hashable, Sendable, PacketCodable {
  var player: Int
  var isAnswer: Bool
  var first: Tick
  var count: Int

  init(player: Int, isAnswer: Bool, first: Tick, count: Int) {
    self.player = player
    self.isAnswer = isAnswer
    self.first = first
    self.count = count
  }

  func encode(into writer: inout PacketWriter) {
    writer.append(UInt8(player))
    writer.append(isAnswer ? 1 : 0)
    writer.write(first.rawValue)
    writer.append(UInt8(count))
  }

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    player = Int(try reader.read(UInt8.self))
    let flags: UInt8 = try reader.read()
    guard flags <= 1 else { throw .invalid(what: "disconnect flags") }
    isAnswer = flags == 1
    first = Tick(try reader.read(UInt64.self))
    count = Int(try reader.read(UInt8.self))
    guard count <= SimulationLimits.ticksInPacket else {
      throw .tooLarge(length: UInt64(count), limit: UInt64(SimulationLimits.ticksInPacket))
    }
  }
}
