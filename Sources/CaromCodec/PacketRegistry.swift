import CaromCore

/// Which Swift type each type of packet is. Only registered types are ever made from bytes.
public struct PacketRegistry: Sendable {
  private typealias Decoder =
    @Sendable (Span<UInt8>, UInt16) throws(DecodeError) -> any PacketPayload

  private struct Entry: Sendable {
    let payload: any PacketPayload.Type
    let decode: Decoder
  }

  private var entries: [UInt16: Entry] = [:]

  /// Packets of a type that nobody registered, so far.
  public private(set) var unknownCount = 0
  /// Packets that could not be read, so far.
  public private(set) var malformedCount = 0

  /// Knows no type.
  public init() {}

  /// Adds a type; a number that is taken already is an error, also by the same type.
  public mutating func register<Payload: PacketPayload>(
    _ type: Payload.Type
  ) throws(PacketRegistryError) {
    if let taken = entries[Payload.packetType] {
      throw .taken(type: Payload.packetType, by: "\(taken.payload)")
    }
    entries[Payload.packetType] = Entry(payload: type) { bytes, action throws(DecodeError) in
      try Payload(payload: bytes, action: action)
    }
  }

  /// Whether somebody registered that number.
  public func knows(_ type: UInt16) -> Bool { entries[type] != nil }

  /// Reads a frame's body: never throws and never traps, whatever the bytes are.
  public mutating func decode(_ body: Span<UInt8>) -> ReceivedPacket {
    guard let header = try? PacketHeader(of: body) else {
      malformedCount += 1
      let error = DecodeError.truncated(wanted: Packet.headerLength, remaining: body.count)
      return .malformed(type: nil, action: nil, error)
    }
    let payload = body.extracting(Packet.headerLength...)
    guard let entry = entries[header.type] else {
      unknownCount += 1
      return .unknown(type: header.type, action: header.action, Array(copying: payload))
    }
    do throws(DecodeError) {
      return .value(try entry.decode(payload, header.action), action: header.action)
    } catch {
      malformedCount += 1
      return .malformed(type: header.type, action: header.action, error)
    }
  }

  /// Reads a packet.
  public mutating func decode(_ packet: Packet) -> ReceivedPacket { decode(packet.encoded.span) }
}
