import CaromTransport

/// Why the sidecar of Agones has not taken a request.
public enum AgonesError: Error, Hashable, Sendable {
  /// The connection could not be opened, or has broken.
  case transport(TransportError)
  /// The connection ended before the response was complete.
  case incomplete
  /// What answers is no sidecar.
  case malformed
  /// The response is longer than any that a sidecar gives.
  case tooLong
  /// The sidecar has answered with this status.
  case status(Int)
}

extension AgonesError {
  init(_ failure: HTTPResponseDecoder.Failure) {
    switch failure {
    case .malformed: self = .malformed
    case .tooLong: self = .tooLong
    case .incomplete: self = .incomplete
    }
  }
}

extension AgonesError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    let name = AgonesSidecar.portVariable
    return switch self {
    case .transport(.timedOut): "the sidecar of Agones does not answer: check its log"
    case .transport(let error): "the sidecar of Agones cannot be reached: \(error)"
    case .incomplete: "the sidecar of Agones closed a connection too early: check its log"
    case .malformed, .tooLong: "what answers is no sidecar of Agones: check \(name)"
    case .status(let status): "the sidecar of Agones answers with status \(status): check its log"
    }
  }
}
