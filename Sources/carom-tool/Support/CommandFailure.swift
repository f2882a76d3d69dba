import CaromCrypto
import CaromDNS
import CaromDiscovery
import CaromFleet
import CaromNearby
import CaromTransport
import TerminalText

/// An error that ends the program with an exit status and prints one line to standard error. The
/// line is empty if it has already been printed.
struct CommandFailure: Error, Equatable {
  let status: ExitStatus
  let line: String

  init(_ status: ExitStatus, _ line: String) {
    self.status = status
    self.line = line
  }

  /// Parses a domain. Throws a failure if `text` is not a valid domain.
  static func domain(_ text: String) throws(CommandFailure) -> Name {
    guard let name = try? Name(text: text), name != .root else {
      throw CommandFailure(.badName, "'\(text)' is not a valid domain: use labels of 1 to 63 bytes")
    }
    return name
  }

  /// Returns `name` if it is a valid display name. Throws a failure if it is empty, consists only
  /// of white space, or has more than 63 bytes.
  static func displayName(_ name: String) throws(CommandFailure) -> String {
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw CommandFailure(.badName, "the name is empty: give one that others can see")
    }
    let count = name.utf8.count
    guard count <= PeerID.maximumNameLength else {
      throw CommandFailure(.badName, "the name has \(count) bytes: use at most 63")
    }
    return name
  }

  /// Creates the failure that reports a service discovery error.
  init(_ error: DiscoveryError) {
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
  init(_ error: TransportError) {
    let status: ExitStatus =
      switch error {
      case .addressInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .unreachable, .addressNotAvailable, .connectionRefused, .connectionReset: .unreachable
      case .noSuchInterface: .noSuchInterface
      case .timedOut: .timedOut
      default: .internal
      }
    self.init(status, error.description)
  }

  /// Creates the failure that reports an error from a name server query.
  init(_ error: UnicastError) {
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

  /// Creates the failure that reports why a file was not transferred.
  init(_ failure: TransferFailure, of file: String) {
    let status: ExitStatus =
      switch failure {
      case .invalidName: .badName
      case .diskFull, .unwritable, .unreadable, .changed, .corrupted, .tooLarge: .ioFailed
      case .declined, .cancelled, .exists, .busy, .unknown: .unavailable
      case .disconnected: .unreachable
      }
    self.init(status, "\(file): \(failure)")
  }

  /// Creates the failure that reports `error`, whatever its type.
  init(any error: any Error) {
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
