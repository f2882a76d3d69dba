import CaromCore
import Testing

@testable import CaromSimulation

extension RollbackPacket {
  /// Neutral inputs from tick `first` on, without context, of a sender that needs the input of tick
  /// `needed` next. By default, one bit says that all of them are neutral; from a server to a
  /// player, that bit says that the player's own inputs are as sent.
  static func neutralInputs(
    _ first: UInt64, _ count: Int, needing needed: UInt64, timing: InputHeader.Timing? = nil,
    confirmed: InputHeader.Confirmed? = nil, bits: UInt8 = 0
  ) -> RollbackPacket {
    var header = InputHeader(first: Tick(first), count: count, acknowledged: Tick(needed))
    header.context = 0
    header.timing = timing
    header.confirmed = confirmed
    return RollbackPacket(.inputs, header.encoded + [bits])
  }

  static func keyframe(
    of tick: UInt64, players: Int = 2, _ game: Swarm = Swarm(count: 2, seed: 1)
  ) -> RollbackPacket {
    let keyframe = RollbackKeyframe(tick: Tick(tick), players: players, game: game)
    return RollbackPacket(.keyframe, keyframe.encoded)
  }

  /// The header of a packet with inputs.
  func inputHeader() throws -> InputHeader {
    #expect(message == .inputs)
    var reader = PacketReader(bytes.span)
    return try InputHeader(decoding: &reader)
  }
}
