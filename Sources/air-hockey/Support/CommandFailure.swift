import Carom
import TerminalText

/// An error that ends the program with an exit status and prints a line to standard error.
struct CommandFailure: Error, Equatable {
  typealias Status = ExitStatus

  let status: Status
  let line: String

  init(_ status: Status, _ line: String) {
    self.status = status
    self.line = line
  }
}

extension ExitStatus {
  /// Creates the status with which the program exits after its game ended for the given reason.
  init(_ reason: DisconnectReason) {
    switch reason {
    case .timedOut, .handshakeTimeout: self = .timedOut
    case .connectionReset, .connectionLost: self = .unreachable
    case .protocolViolation, .versionMismatch, .wrongApplication: self = .wrongVersion
    default: self = .success
    }
  }
}

extension CommandFailure {
  /// Creates the failure that reports a network error.
  init(_ error: TransportError) {
    let status: ExitStatus =
      switch error {
      case .addressInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .unreachable, .connectionRefused, .connectionReset, .unknownHost, .nameServiceFailed,
        .addressNotAvailable:
        .unreachable
      case .timedOut: .timedOut
      case .noSuchInterface: .noSuchInterface
      default: .internal
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports a service discovery error.
  init(_ error: DiscoveryError) {
    let status: ExitStatus =
      switch error {
      case .portInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .noMulticastInterface: .noMulticast
      case .noSuchInterface: .noSuchInterface
      case .nameMissing, .nameTooLong, .nameInvalid, .nameTaken: .badName
      case .timedOut: .timedOut
      case .hostNameContested, .hostHasNoAddress, .notOffered: .unavailable
      case .transport(let error): CommandFailure(error).status
      case .portMissing, .cancelled, .closed, .tooManyServices, .subtypeInvalid, .textTooLong,
        .tooManyQuestions, .domainNotLocal, .noNameServer,
        .noRegistrationDomain, .keyRejected, .clocksDiffer, .updateRefused, .notPrimaryServer:
        .internal
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports a session error, such as a refusal by the host.
  init(_ error: SessionError) {
    let status: ExitStatus =
      switch error {
      case .transport(let error): CommandFailure(error).status
      case .refused(.versionMismatch), .refused(.wrongApplication), .refused(.protocolViolation):
        .wrongVersion
      case .refused(.handshakeTimeout), .refused(.timedOut): .timedOut
      case .refused(.connectionReset), .refused(.connectionLost): .unreachable
      case .refused: .unavailable
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports `error`, whatever its type.
  init(any error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as TransportError: self.init(error)
    case let error as DiscoveryError: self.init(error)
    case let error as SessionError: self.init(error)
    default: self.init(.internal, "\(error)")
    }
  }
}
