/// The reasons why a byte stream cannot be opened, read or written.
public enum StreamFailure: Error, Hashable, Sendable {
  /// One side has reset the stream.
  case reset
  /// The connection to the peer has ended.
  case disconnected
  /// This side has already said that it writes no more.
  case finished
  /// The name has more than 255 bytes of UTF-8.
  case nameTooLong
  /// 256 streams that this side has opened are not over yet.
  case tooManyStreams
  /// The task was cancelled.
  case cancelled
}

extension StreamFailure: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .reset: "the stream was reset"
    case .disconnected: "the connection to the peer was lost"
    case .finished: "the stream was finished: open another one to write more"
    case .nameTooLong: "the name of a stream has at most 255 bytes"
    case .tooManyStreams: "256 streams to the peer are open: finish one first"
    case .cancelled: "the task was cancelled"
    }
  }
}
