import CaromCore

extension PeerID: Codable, CodingKeyRepresentable {
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Encodes the id as its 32 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  /// Decodes an id from 32 hexadecimal digits. Throws `DecodingError` for any other text.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = PeerID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "an id has 32 hexadecimal digits")
    }
    self = id
  }

  /// The key of an entry in an encoded dictionary: the 32 hexadecimal digits.
  public var codingKey: any CodingKey { Key(stringValue: description) }

  /// Creates an id from the key of an entry. Returns nil if the key is not 32 hexadecimal digits.
  public init?<Other: CodingKey>(codingKey: Other) { self.init(codingKey.stringValue) }
}
