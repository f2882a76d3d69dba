import CaromCore

/// Where a peer listens: its id, its display name, and its endpoints.
struct PeerAddress: Hashable, Sendable {
  /// The maximum number of endpoints that are sent and read.
  static let endpointLimit = 16

  var id: PeerID
  var name: String
  var endpoints: [Endpoint]
}

extension PeerAddress: PacketCodable {
  /// Appends the id (16 bytes, most significant first), the name, and the endpoints.
  func encode(into writer: inout PacketWriter) {
    writer.writeBigEndian(id.high)
    writer.writeBigEndian(id.low)
    writer.writeText(name)
    writer.writeEndpoints(endpoints)
  }

  /// Reads an address. Throws if the name is empty or longer than 63 bytes, or if there are more
  /// than 16 endpoints.
  init(decoding reader: inout PacketReader) throws(DecodeError) {
    id = PeerID(high: try reader.readBigEndian(), low: try reader.readBigEndian())
    name = try reader.readText(limit: PeerID.maximumNameLength)
    guard !name.isEmpty else { throw .invalid(what: "name") }
    endpoints = try reader.readEndpoints()
  }
}

extension PacketWriter {
  /// Appends the number of endpoints and, for each, the number of bytes of its address (4 or 16),
  /// the address, and the port, both most significant byte first.
  mutating func writeEndpoints(_ endpoints: [Endpoint]) {
    let endpoints = endpoints.prefix(PeerAddress.endpointLimit)
    append(UInt8(endpoints.count))
    for endpoint in endpoints {
      let bytes = endpoint.address.bytes
      append(UInt8(bytes.count))
      write(bytes)
      writeBigEndian(endpoint.port)
    }
  }
}

extension PacketReader {
  mutating func readEndpoints() throws(DecodeError) -> [Endpoint] {
    let count = Int(try read(UInt8.self))
    guard count <= PeerAddress.endpointLimit else {
      throw .tooLarge(length: UInt64(count), limit: UInt64(PeerAddress.endpointLimit))
    }
    var endpoints: [Endpoint] = []
    for _ in 0..<count {
      let length = Int(try read(UInt8.self))
      guard length == 4 || length == 16, let address = IPAddress(bytes: try readBytes(length))
      else { throw .invalid(what: "address") }
      endpoints.append(Endpoint(address, port: try readBigEndian()))
    }
    return endpoints
  }
}
