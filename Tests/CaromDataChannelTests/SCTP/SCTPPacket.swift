import CaromCore

@testable import CaromDataChannel

/// Packets that the tests write by themselves, and a reader of those that an association writes.
struct SCTPPacket {
  struct Chunk: Equatable {
    var type: UInt8
    var flags: UInt8 = 0
    var value: [UInt8] = []
  }

  var tag: UInt32
  var chunks: [Chunk]

  init(tag: UInt32, _ chunks: [Chunk]) {
    self.tag = tag
    self.chunks = chunks
  }

  /// Reads a packet that is known to be well-formed.
  init(_ bytes: [UInt8]) {
    tag = bytes.span.bigEndian32(at: 4)
    chunks = []
    var offset = 12
    while offset < bytes.count {
      let length = Int(bytes.span.bigEndian16(at: offset + 2))
      chunks.append(
        Chunk(
          type: bytes[offset], flags: bytes[offset + 1],
          value: Array(bytes[offset + 4..<offset + length])))
      offset += padded(length)
    }
  }

  var types: [UInt8] { chunks.map(\.type) }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendBigEndian(0x1388_1388 as UInt32)
    bytes.appendBigEndian(tag)
    bytes.appendBigEndian(0 as UInt32)
    for chunk in chunks {
      bytes.appendChunk(chunk.type, flags: chunk.flags, length: chunk.value.count)
      bytes += chunk.value
      bytes.pad(from: 0)
    }
    return Self.sealed(bytes)
  }

  /// Returns the packet with its right checksum.
  static func sealed(_ packet: [UInt8]) -> [UInt8] {
    var packet = packet
    let checksum = SCTPAssociation.checksum(of: packet.span)
    packet.overwriteBigEndian(UInt16(checksum >> 16), at: 8)
    packet.overwriteBigEndian(UInt16(checksum & 0xFFFF), at: 10)
    return packet
  }

  /// The big-endian bytes of `words`.
  static func words(_ words: UInt32...) -> [UInt8] {
    var bytes: [UInt8] = []
    for word in words { bytes.appendBigEndian(word) }
    return bytes
  }

  /// A chunk of data, by default with a whole message of the channel.
  static func data(
    _ tsn: UInt32, _ message: [UInt8], flags: UInt8 = 7, stream: UInt32 = 0,
    payloadProtocol: UInt32 = 53
  ) -> Chunk {
    Chunk(
      type: ChunkType.data, flags: flags,
      value: words(tsn, stream << 16, payloadProtocol) + message)
  }
}
