import CaromCore

/// A message of the byte streams, except those with a stream's bytes.
package enum StreamMessage: Hashable, Sendable {
  /// On the control channel: the sender accepts bytes of a stream up to `limit`.
  case credit(StreamID, limit: UInt64)
  /// On the control channel: the sender lets the peer open streams with numbers below `limit`.
  case streams(limit: UInt64)
  /// On the data channel: the sender opens a stream.
  case open(UInt64, name: String)
  /// On the data channel: the sender sends no further bytes.
  case finish(StreamID)
  /// On the data channel: the stream is over in both directions.
  case reset(StreamID)
}

/// The first byte of a message of the byte streams.
enum StreamMessageKind: UInt8 {
  case credit = 1, streams, open, data, finish, reset
}

extension StreamMessage: PacketCodable {
  package func encode(into writer: inout PacketWriter) {
    switch self {
    case .credit(let id, let limit):
      Self.write(.credit, id, &writer)
      writer.writeVarInt(limit)
    case .streams(let limit):
      writer.append(StreamMessageKind.streams.rawValue)
      writer.writeVarInt(limit)
    case .open(let number, let name):
      writer.append(StreamMessageKind.open.rawValue)
      writer.writeVarInt(number)
      writer.writeText(name)
    case .finish(let id): Self.write(.finish, id, &writer)
    case .reset(let id): Self.write(.reset, id, &writer)
    }
  }

  package init(decoding reader: inout PacketReader) throws(DecodeError) {
    switch StreamMessageKind(rawValue: try reader.read()) {
    case .credit:
      let id = try reader.readStreamID()
      self = .credit(id, limit: try reader.readVarInt())
    case .streams: self = .streams(limit: try reader.readVarInt())
    case .open:
      let number = try reader.readVarInt()
      self = .open(number, name: try reader.readText(limit: StreamLimits.nameLength))
    case .finish: self = .finish(try reader.readStreamID())
    case .reset: self = .reset(try reader.readStreamID())
    case .data, nil: throw .invalid(what: "kind")
    }
  }

  /// Returns the message with bytes of a stream.
  package static func data(_ id: StreamID, _ bytes: [UInt8]) -> [UInt8] {
    var writer = PacketWriter(capacity: bytes.count + 1 + VarInt.maximumLength)
    write(.data, id, &writer)
    writer.write(bytes)
    return writer.bytes
  }

  /// Decodes the message with bytes of a stream. Returns nil if the message is of another kind.
  static func dataID(_ message: Span<UInt8>, at offset: inout Int) throws(DecodeError) -> StreamID?
  {
    var reader = PacketReader(message)
    guard reader.peek() == StreamMessageKind.data.rawValue else { return nil }
    _ = try reader.read(UInt8.self)
    let id = try reader.readStreamID()
    guard (1...StreamLimits.chunkLength).contains(reader.remaining) else {
      throw .tooLarge(
        length: UInt64(reader.remaining), limit: UInt64(StreamLimits.chunkLength))
    }
    offset = reader.offset
    return id
  }

  private static func write(
    _ kind: StreamMessageKind, _ id: StreamID, _ writer: inout PacketWriter
  ) {
    writer.append(kind.rawValue)
    // A stream's number has at most 63 bits, since each stream costs a message.
    writer.writeVarInt(id.number << 1 | (id.isOutgoing ? 0 : 1))
  }
}

extension PacketReader {
  /// Reads the id of a stream. The lowest bit says whether the side that sent the message has
  /// opened the stream (0), or the side that reads it (1).
  fileprivate mutating func readStreamID() throws(DecodeError) -> StreamID {
    let value = try readVarInt()
    return StreamID(isOutgoing: value & 1 == 1, number: value >> 1)
  }
}
