import CaromCore

/// The name of a match in its fleet: 1 to 64 visible ASCII characters, such as a UUID.
public struct MatchID: Hashable, Sendable {
  /// The maximum length of a name in bytes.
  public static let maximumLength = 64

  /// The name's text.
  public let text: String

  /// Creates a name. Returns nil if the text is empty, longer than 64 bytes, or contains anything
  /// but visible ASCII characters.
  public init?(_ text: some StringProtocol) {
    guard FleetText.isValid(text, limit: Self.maximumLength) else { return nil }
    self.text = String(text)
  }
}

extension MatchID: Comparable {
  /// Orders names by their bytes.
  public static func < (a: MatchID, b: MatchID) -> Bool {
    // The order of strings is that of their bytes where all are ASCII.
    a.text < b.text
  }
}

extension MatchID: CustomStringConvertible {
  /// The name's text.
  public var description: String { text }
}

extension MatchID: PacketCodable {
  /// Appends the length in bytes (`VarInt`) and the text.
  public func encode(into writer: inout PacketWriter) { writer.writeText(text) }

  /// Reads a name. Throws if it is not valid.
  public init(decoding reader: inout PacketReader) throws(DecodeError) {
    guard let id = MatchID(try reader.readText(limit: Self.maximumLength)) else {
      throw .invalid(what: "name of a match")
    }
    self = id
  }
}

/// The rule for all short texts of a fleet: names of matches, games, versions and regions. Such a
/// text can be a part of a key or of a line of output without quotation marks.
package enum FleetText {
  /// The maximum length in bytes of the name of a game, a version or a region.
  package static let maximumLength = 63

  package static func isValid(_ text: some StringProtocol, limit: Int = maximumLength) -> Bool {
    let bytes = text.utf8
    return !bytes.isEmpty && bytes.count <= limit && bytes.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
