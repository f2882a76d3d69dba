import AirHockey
import Carom
import CaromSimulation

/// The game's messages on the wire: `airhockey`, version 2.
enum GameWire {
  static let application = "airhockey"
  static let version: UInt16 = 2
  static let serviceType: ServiceType = "_airhockey._tcp"
}

/// Inputs as the machines of play in step write them; who receives them checks what they hold.
struct InputRuns: Hashable, Sendable, PacketCodable {
  var bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func encode(into writer: inout PacketWriter) { writer.write(bytes) }

  init(decoding reader: inout PacketReader) { bytes = reader.readRest() }
}

extension MessageChannel<InputRuns> {
  /// What everybody does, each tick: a newer one holds all that an older one has and is needed.
  static var inputs: Self { .init(0, .unreliableSequenced) }
}

extension MessageChannel<RollbackPacket> {
  /// Whole matches, and what is said about a difference.
  static var sync: Self { .init(1, .reliableOrdered) }
}

extension MessageChannel<TableWord> {
  /// What is told once beside the match.
  static var words: Self { .init(2, .reliableOrdered) }
}
