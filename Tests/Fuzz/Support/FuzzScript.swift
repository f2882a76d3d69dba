/// Reads the bytes of an input as a script, followed by zeros.
public struct FuzzScript: Sendable {
  private let bytes: [UInt8]
  private var position = 0

  /// Creates a script from the bytes of an input.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether every byte has been read.
  public var isAtEnd: Bool { position >= bytes.count }

  /// Reads the next byte.
  public mutating func next() -> UInt8 {
    guard position < bytes.count else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  /// Reads up to `count` of the remaining bytes.
  public mutating func read(_ count: Int) -> [UInt8] {
    let end = min(bytes.count, position + count)
    defer { position = end }
    return Array(bytes[position..<end])
  }
}
