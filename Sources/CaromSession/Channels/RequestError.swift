import CaromProtocol

/// The reason why a request got no response.
public enum RequestError: Error, Hashable, Sendable {
  /// The request could not be sent.
  case notSent(SendError)
  /// No response arrived within the time limit.
  case timedOut
  /// The peer received the request, but its `respond` closure threw an error.
  case failed
  /// Too many requests are pending on this side or on the peer. Try again later.
  case busy
  /// The connection ended before the response arrived.
  case disconnected(DisconnectReason)
  /// The response cannot be decoded, because the two sides declare different types for the
  /// exchange.
  case malformedResponse
  /// The task was cancelled.
  case cancelled
}

extension RequestError: CustomStringConvertible {
  /// A line for users that says what happened.
  public var description: String {
    switch self {
    case .notSent(let error): "the request was not sent: \(error)"
    case .timedOut: "no response arrived in time"
    case .failed: "the peer could not carry out the request"
    case .busy: "too many requests are pending: try again later"
    case .disconnected(let reason): "the connection ended before the response: \(reason)"
    case .malformedResponse: "the response cannot be decoded: the two sides declare different types"
    case .cancelled: "the task was cancelled"
    }
  }
}
