import CaromCore

/// A map from packet types to Swift types. Only registered types are decoded.
public struct PacketRegistry: Sendable {
  private typealias Decoder =
    @Sendable (Span<UInt8>, UInt16) throws(DecodeError) -> any PacketPayload

  private struct Entry: Sendable {
    let payload: any PacketPayload.Type
    let decode: Decoder
  }

  private var entries: [UInt16: Entry] = [:]

  /// The number of packets received so far whose type is not registered.
  public private(set) var unknownCount = 0
  /// The number of malformed packets received so far.
  public private(set) var malformedCount = 0

  /// Creates an empty registry.
  public init() {}

  /// Registers a Swift type under its packet type. Throws `taken` if the packet type is already
  /// registered, even by the same Swift type.
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

  /// Returns whether the packet type is registered.
  public func contains(_ type: UInt16) -> Bool { entries[type] != nil }

  /// Decodes a frame's body. The result reports malformed bytes; this method never throws or traps.
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

  /// Decodes the payload of a packet.
  public mutating func decode(_ packet: Packet) -> ReceivedPacket { decode(packet.encoded.span) }
}

/// The errors that a `PacketRegistry` throws.
public enum PacketRegistryError: Error, Hashable, Sendable {
  /// The packet type is already registered; `by` names its Swift type.
  case taken(type: UInt16, by: String)
}

/// A packet as decoded by a `PacketRegistry`.
public enum ReceivedPacket: Sendable {
  /// A value of a registered type: `if case .value(let chat as Chat, _) = packet`.
  case value(any PacketPayload, action: UInt16)
  /// A packet whose type is not registered, with its payload. A newer version of the peer's program
  /// may have sent it.
  case unknown(type: UInt16, action: UInt16, [UInt8])
  /// A packet that could not be decoded. The type and the action are nil if the body was too short
  /// to contain them.
  case malformed(type: UInt16?, action: UInt16?, DecodeError)
}
