import CaromCBOR
import CaromCore
import CaromProtocol

/// Encodes and decodes messages of one type. A channel stores the conforming type itself rather
/// than a value, so that creating a channel allocates nothing.
@usableFromInline protocol MessageCoding<Message>: SendableMetatype {
  associatedtype Message: Sendable

  static func encode(_ message: Message, into writer: inout PacketWriter) throws(SendError)
  static func decode(_ bytes: Span<UInt8>) throws(DecodeError) -> Message
}

/// The coding of a type that defines its own wire format.
@usableFromInline enum PacketCoding<Message: PacketCodable>: MessageCoding {
  @usableFromInline static func encode(
    _ message: Message, into writer: inout PacketWriter
  ) throws(SendError) {
    // A peer that received a longer text would have to take it for a violation of the protocol.
    if Message.self == String.self, let text = message as? String {
      let limit = String.maximumEncodedLength
      guard text.utf8.count <= limit else {
        throw .tooLarge(size: text.utf8.count, limit: limit)
      }
    }
    message.encode(into: &writer)
  }

  @usableFromInline static func decode(_ bytes: Span<UInt8>) throws(DecodeError) -> Message {
    try Message(decoding: bytes)
  }
}

/// The coding of a `Codable` type as CBOR.
@usableFromInline enum CBORCoding<Message: Codable & Sendable>: MessageCoding {
  @usableFromInline static func encode(
    _ message: Message, into writer: inout PacketWriter
  ) throws(SendError) {
    do {
      writer.write(try PacketEncoder().encode(message))
    } catch { throw .notEncodable("\(error)") }
  }

  @usableFromInline static func decode(_ bytes: Span<UInt8>) throws(DecodeError) -> Message {
    try PacketDecoder().decode(Message.self, from: bytes)
  }
}
