import Carom

/// Messages of one length out of a bare stream: those that come whole are read where they lie.
struct FramesCutter {
  private let length: Int
  private var rest: [UInt8] = []

  /// For messages of `length` bytes, overhead included.
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
