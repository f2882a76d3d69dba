import CaromCore

/// A 16-byte value that only somebody who has a certain secret can compute. It proves that a hello
/// or a refusal comes from the other side of the connection.
package struct AuthenticationTag: Hashable, Sendable {
  /// The length of a tag in bytes.
  package static let length = 16

  private let low: UInt64
  private let high: UInt64

  init(decoding reader: inout PacketReader) throws(DecodeError) {
    low = try reader.read()
    high = try reader.read()
  }

  /// Creates the tag with these bytes, of which there must be 16.
  package init(_ bytes: [UInt8]) {
    precondition(bytes.count == Self.length, "a tag has 16 bytes")
    func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
      bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
    low = word(bytes[..<8])
    high = word(bytes[8...])
  }

  func encode(into writer: inout PacketWriter) {
    writer.write(low)
    writer.write(high)
  }

  func write(to writer: inout FrameWriter) {
    writer.append(integer: low)
    writer.append(integer: high)
  }

  /// Compares both halves, in a time that does not depend on where they differ.
  package static func == (a: AuthenticationTag, b: AuthenticationTag) -> Bool {
    (a.low ^ b.low) | (a.high ^ b.high) == 0
  }
}

#if !hasFeature(Embedded)
  extension AuthenticationTag: CustomStringConvertible, CustomReflectable {
    /// A string that does not show the tag, which is as good as the secret that it was made with.
    package var description: String { "authentication tag" }
    /// An empty mirror, so that `dump` does not show the tag.
    package var customMirror: Mirror { Mirror(self, children: []) }
  }
#endif
