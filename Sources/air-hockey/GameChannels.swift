import AirHockey
import Carom
import CaromSimulation

/// The identity of the game's protocol: application `airhockey`, version 2.
enum GameWire {
  static let application = "airhockey"
  static let version: UInt16 = 2
  static let serviceType: ServiceType = "_airhockey._tcp"
}

/// Encoded inputs of one or more ticks. The receiving `HostedMatch` or `JoinedMatch` validates
/// them.
struct InputRuns: Hashable, Sendable, PacketCodable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func encode(into writer: inout PacketWriter) { writer.write(bytes) }

  init(decoding reader: inout PacketReader) { bytes = reader.readRest() }
}

extension MessageChannel<InputRuns> {
  /// The channel of the players' inputs, which are sent on every tick. Each message repeats all
  /// unacknowledged inputs, so only the newest message is needed.
  static var inputs: Self { .init(0, .unreliableSequenced) }
}

extension MessageChannel<RollbackPacket> {
  /// The channel of whole states and of messages about desyncs.
  static var sync: Self { .init(1, .reliableOrdered) }
}

extension MessageChannel<MatchNotice> {
  /// The channel of `MatchNotice` messages, which end a session.
  static var notices: Self { .init(2, .reliableOrdered) }
}
