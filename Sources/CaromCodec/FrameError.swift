/// Why a stream of frames cannot go on: where frames begin is lost, so the link has to close.
public enum FrameError: Error, Hashable, Sendable {
  /// A header announces more bytes than the limit allows. A peer that writes the other byte order
  /// ends here too.
  case frameTooLarge(length: UInt64, limit: Int)
  /// The body was not whole when its time was over.
  case bodyTimeout(got: Int, want: Int)
  /// The stream ended inside a header or a body.
  case unexpectedEOF(got: Int, want: Int)
}

extension FrameError: CustomStringConvertible {
  /// One line for people, with the figures.
  public var description: String {
    switch self {
    case .frameTooLarge(let length, let limit):
      "frame too large: \(length) bytes announced, the limit is \(limit)"
    case .bodyTimeout(let got, let want): "body timeout: \(got) of \(want) bytes came in time"
    case .unexpectedEOF(let got, let want): "unexpected end: \(got) of \(want) bytes came"
    }
  }
}
