import CaromCore
import CaromSession

/// The connection of a pair, for the thread of the application.
struct PairConnection: Sendable {
  /// The channel of the data, which has no header.
  static let channel = MessageChannel<PairData>(0, .reliableOrdered)

  let peer: Peer
  var name: String { peer.name }

  /// Queues data without waiting. Returns false if there is no room.
  func send(_ bytes: [UInt8]) -> Bool { peer.post(PairData(bytes: bytes), on: Self.channel) }
}

/// Data of the application, which is a message by itself.
struct PairData: PacketCodable {
  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Appends the bytes.
  func encode(into writer: inout PacketWriter) { writer.write(bytes) }

  /// Reads everything.
  init(decoding reader: inout PacketReader) { bytes = reader.readRest() }
}
