import Carom

/// Splits a bare TCP stream into messages of one fixed length. A message that arrives whole is read
/// in place; only a partial one is copied.
struct FramesSplitter {
  private let length: Int
  private var rest: [UInt8] = []

  /// Creates a splitter for messages of `length` bytes, including `FramesWire.overhead`.
  init(length: Int) { self.length = length }

  mutating func receive(_ bytes: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
    var offset = 0
    if !rest.isEmpty {
      offset = min(length - rest.count, bytes.count)
      rest.append(copying: bytes.extracting(0..<offset))
      guard rest.count == length else { return }
      body(rest.span.extracting(FramesWire.overhead..<length))
      rest.removeAll(keepingCapacity: true)
    }
    while bytes.count - offset >= length {
      body(bytes.extracting(offset + FramesWire.overhead..<offset + length))
      offset += length
    }
    rest.append(copying: bytes.extracting(offset..<bytes.count))
  }
}
