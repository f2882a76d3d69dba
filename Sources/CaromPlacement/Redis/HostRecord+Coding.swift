import CaromCore
import CaromCrypto

extension HostRecord: PacketCodable {
  /// Added to the number of endpoints if routing follows them.
  private static let routingFlag: UInt8 = 16

  /// Appends the record as the page WireFormat describes it.
  public func encode(into writer: inout PacketWriter) {
    writer.write(key.bytes)
    writer.write(UInt8(endpoints.count) + (routing == nil ? 0 : Self.routingFlag))
    for endpoint in endpoints {
      let bytes = endpoint.address.bytes
      writer.write(UInt8(bytes.count == 4 ? 4 : 6))
      writer.write(bytes)
      writer.writeBigEndian(endpoint.port)
    }
    routing?.encode(into: &writer)
    writer.writeText(region)
    writer.writeText(game.game)
    writer.writeText(game.version)
    writer.writeBigEndian(UInt16(seats))
  }

  /// Reads a record. Throws if a part of it is not valid.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let key = PublicKey(try reader.readSpan(PublicKey.length)) else {
      throw .invalid(what: "key of a host")
    }
    let head: UInt8 = try reader.read()
    let (count, isRouted) = (head & ~Self.routingFlag, head & Self.routingFlag != 0)
    guard 1...ConnectToken.hostLimit ~= Int(count) else { throw .invalid(what: "endpoint count") }
    var endpoints: [Endpoint] = []
    for _ in 0..<count { endpoints.append(try Self.readEndpoint(&reader)) }
    let routing = isRouted ? try DatagramRouting(decoding: &reader) : nil
    let region = try Self.readText(&reader)
    let game = GameVersion(try Self.readText(&reader), try Self.readText(&reader))
    let seats: UInt16 = try reader.readBigEndian()
    guard seats > 0 else { throw .invalid(what: "number of seats") }
    self.init(
      key: key, endpoints: endpoints, routing: routing, region: region, game: game,
      seats: Int(seats))
  }

  private static func readEndpoint(
    _ reader: inout PacketReader
  ) throws(DecodeError) -> Endpoint {
    let version: UInt8 = try reader.read()
    guard version == 4 || version == 6 else { throw .invalid(what: "version of an address") }
    let bytes = try reader.readBytes(version == 4 ? 4 : 16)
    guard let address = IPAddress(bytes: bytes) else { throw .invalid(what: "address") }
    return Endpoint(address, port: try reader.readBigEndian())
  }

  private static func readText(_ reader: inout PacketReader) throws(DecodeError) -> String {
    let text = try reader.readText(limit: FleetText.maximumLength)
    guard FleetText.isValid(text) else { throw .invalid(what: "text of a host") }
    return text
  }
}
