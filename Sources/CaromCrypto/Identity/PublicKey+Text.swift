extension PublicKey: CustomStringConvertible {
  /// The key as 64 lower-case hexadecimal digits.
  public var description: String { String(decoding: Hexadecimal.digits(of: bytes), as: UTF8.self) }

  /// Creates a key from 64 hexadecimal digits. Returns nil for any other text.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Hexadecimal.bytes(of: text.utf8, count: Self.length) else { return nil }
    self.init(bytes.span)
  }
}
