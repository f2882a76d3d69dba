/// The errors that frame encoders and decoders throw. After a decoding error the start of the next
/// frame is unknown, so the receiver must close the stream.
public enum FrameError: Error, Hashable, Sendable {
  /// A body is longer than `limit` bytes. This error also occurs if the peer uses the other byte
  /// order.
  case frameTooLarge(length: UInt64, limit: Int)
  /// Only `got` of `want` bytes of a body arrived before the body's deadline.
  case bodyTimeout(got: Int, want: Int)
  /// The stream ended inside a header or body after `got` of its `want` bytes.
  case unexpectedEOF(got: Int, want: Int)
}

extension FrameError: CustomStringConvertible {
  /// A one-line message that includes the byte counts.
  public var description: String {
    switch self {
    case .frameTooLarge(let length, let limit):
      "frame too large: \(length) bytes, but the limit is \(limit)"
    case .bodyTimeout(let got, let want): "body timeout: received \(got) of \(want) bytes in time"
    case .unexpectedEOF(let got, let want): "unexpected end: received \(got) of \(want) bytes"
    }
  }
}
