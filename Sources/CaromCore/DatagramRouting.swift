/// Bytes before or after each datagram by which a proxy, such as Quilkin, finds the server that the
/// datagram is for.
///
/// The proxy reads these bytes and, in most set-ups, removes them before it sends the datagram on.
/// They are not encrypted, so they are no secret from anybody on the network path.
///
/// Use 8 bytes or more: a receiver removes them from each datagram that ends, or begins, with them,
/// and one of 256 datagrams without them ends with a given byte by chance.
public struct DatagramRouting: Hashable, Sendable {
  /// Where the bytes stand.
  public enum Position: Hashable, Sendable {
    /// Before the bytes of the datagram.
    case prefix
    /// After the bytes of the datagram.
    case suffix
  }

  /// The maximum number of bytes: with them, the datagrams that every path must carry still fit
  /// into the minimum MTU of IPv6.
  public static let maximumLength = 32

  /// Where the bytes stand.
  public let position: Position
  /// The bytes, 1 to 32.
  public let bytes: [UInt8]

  private init(_ position: Position, _ bytes: [UInt8]) throws(DatagramRoutingError) {
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumLength else { throw .tooLong(count: bytes.count) }
    self.position = position
    self.bytes = bytes
  }

  /// Creates routing by bytes, 1 to 32, before each datagram.
  public static func prefix(
    _ bytes: [UInt8]
  ) throws(DatagramRoutingError) -> DatagramRouting {
    try DatagramRouting(.prefix, bytes)
  }

  /// Creates routing by bytes, 1 to 32, after each datagram.
  public static func suffix(
    _ bytes: [UInt8]
  ) throws(DatagramRoutingError) -> DatagramRouting {
    try DatagramRouting(.suffix, bytes)
  }

  /// Returns the range of a datagram without the routing bytes; nil if it does not carry them.
  package func payload(of datagram: Span<UInt8>) -> Range<Int>? {
    let rest = datagram.count - bytes.count
    guard rest >= 0 else { return nil }
    let start = position == .prefix ? 0 : rest
    for index in bytes.indices where datagram[start + index] != bytes[index] { return nil }
    return position == .prefix ? bytes.count..<datagram.count : 0..<rest
  }

  /// Returns a datagram with the routing bytes.
  package func adding(to datagram: [UInt8]) -> [UInt8] {
    position == .prefix ? bytes + datagram : datagram + bytes
  }
}

extension DatagramRouting: PacketCodable {
  private static let suffixFlag: UInt8 = 128

  /// Appends the number of bytes (1 byte; plus 128 if they are a suffix), and the bytes.
  public func encode(into writer: inout PacketWriter) {
    writer.append(UInt8(bytes.count) + (position == .suffix ? Self.suffixFlag : 0))
    writer.write(bytes)
  }

  /// Reads routing. Throws unless it has 1 to 32 bytes.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    try self.init(head: try reader.read(), &reader)
  }

  /// Reads routing whose first byte has been read.
  package init(head: UInt8, _ reader: inout PacketReader) throws(DecodeError) {
    let count = Int(head & ~Self.suffixFlag)
    guard 1...Self.maximumLength ~= count else { throw .invalid(what: "routing bytes") }
    position = head < Self.suffixFlag ? .prefix : .suffix
    bytes = try reader.readBytes(count)
  }
}

extension DatagramRouting: CustomStringConvertible {
  /// The position and the number of bytes, without the bytes: "suffix of 16 bytes".
  public var description: String {
    let place = position == .prefix ? "prefix" : "suffix"
    return bytes.count == 1 ? "\(place) of 1 byte" : "\(place) of \(bytes.count) bytes"
  }
}

/// The reasons why bytes cannot be used for routing.
public enum DatagramRoutingError: Error, Hashable, Sendable {
  /// There are no bytes: give 1 to 32, or use no routing.
  case empty
  /// There are so many bytes, more than 32: have the proxy use fewer.
  case tooLong(count: Int)
}

extension DatagramRoutingError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .empty: "routing needs 1 to 32 bytes: give some, or use no routing"
    case .tooLong(let count):
      "routing has at most 32 bytes, not \(count): configure the proxy for fewer"
    }
  }
}
