/// Why a stream of lines cannot go on.
public enum DelimiterError: Error, Hashable, Sendable {
  /// More bytes came without a delimiter than the limit allows.
  case delimiterTooFar(limit: Int)
  /// The stream ended inside a line.
  case unexpectedEOF(got: Int)
}

extension DelimiterError: CustomStringConvertible {
  /// One line for people, with the figures.
  public var description: String {
    switch self {
    case .delimiterTooFar(let limit): "no delimiter within \(limit) bytes"
    case .unexpectedEOF(let got): "unexpected end: \(got) bytes came without a delimiter"
    }
  }
}
