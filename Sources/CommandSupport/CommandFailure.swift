import CaromCrypto
import CaromDNS
import CaromDiscovery
import CaromFleet
import CaromSession
import CaromTransport
import TerminalText

/// An error that ends a program with an exit status and prints one line to standard error. The line
/// is empty if it has already been printed.
package struct CommandFailure: Error, Equatable, Sendable {
  package let status: ExitStatus
  package let line: String

  package init(_ status: ExitStatus, _ line: String) {
    self.status = status
    self.line = line
  }

  /// Creates the failure that reports a service discovery error.
  package init(_ error: DiscoveryError) {
    let status: ExitStatus =
      switch error {
      case .portInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .noMulticastInterface: .noMulticast
      case .noSuchInterface: .noSuchInterface
      case .nameMissing, .nameTooLong, .nameInvalid, .subtypeInvalid, .textTooLong: .badName
      case .domainNotLocal: .badName
      case .nameTaken, .hostNameContested, .hostHasNoAddress, .notOffered: .unavailable
      case .noNameServer, .notPrimaryServer: .unreachable
      case .noRegistrationDomain: .unavailable
      case .keyRejected, .clocksDiffer, .updateRefused: .notPermitted
      case .timedOut: .timedOut
      case .portMissing: .usage
      case .transport(let error): CommandFailure(error).status
      default: .internal
      }
    guard error == .portInUse, let holder = PortHolder.names(5353).first else {
      self.init(status, error.description)
      return
    }
    self.init(status, "UDP port 5353 is taken by \(holder): end that program")
  }

  /// Creates the failure that reports a transport error.
  package init(_ error: TransportError) {
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

  /// Creates the failure that reports an error from a name server query.
  package init(_ error: UnicastError) {
    let status: ExitStatus =
      switch error {
      case .nameError, .nameInUse, .prerequisiteFailed: .unavailable
      case .keyRejected, .clocksDiffer: .notPermitted
      case .serverFailure, .refused, .unreachable, .noServers, .notAuthoritative: .unreachable
      case .timedOut: .timedOut
      case .multicastName: .badName
      case .tooManyQueries, .cancelled, .closed: .internal
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports that no session could be hosted or joined.
  package init(_ error: SessionError) {
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
  package init(any error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as DiscoveryError: self.init(error)
    case let error as TransportError: self.init(error)
    case let error as UnicastError: self.init(error)
    case let error as ServiceTypeError: self.init(.badName, error.description)
    case let error as ConnectTokenError: self.init(.usage, error.description)
    case let error as TXTRecordError: self.init(.badName, "\(error)")
    case let error as SessionError: self.init(error)
    case let error as RedisError: self.init(error)
    default: self.init(.internal, "\(error)")
    }
  }
}
