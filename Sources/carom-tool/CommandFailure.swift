import CaromDNS
import CaromDiscovery
import CaromTransport

/// A reason to end with one line and a status.
struct CommandFailure: Error, Equatable {
  let status: ExitStatus
  let line: String

  init(_ status: ExitStatus, _ line: String) {
    self.status = status
    self.line = line
  }

  /// The domain of that text, or why there is none.
  static func domain(_ text: String) throws(CommandFailure) -> Name {
    guard let name = try? Name(text: text), name != .root else {
      throw CommandFailure(.badName, "'\(text)' is no domain")
    }
    return name
  }

  /// The line and the status for what discovery said.
  init(_ error: DiscoveryError) {
    let status: ExitStatus =
      switch error {
      case .portInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .noMulticastInterface: .noMulticast
      case .noSuchInterface: .noSuchInterface
      case .nameMissing, .nameTooLong, .nameInvalid, .subtypeInvalid, .textTooLong: .badName
      case .domainNotLocal: .badName
      case .nameTaken, .hostHasNoAddress, .notOffered: .unavailable
      case .noNameServer: .unreachable
      case .timedOut: .timedOut
      case .portMissing: .usage
      case .transport(let error): CommandFailure(error).status
      default: .internal
      }
    guard error == .portInUse, let holder = PortHolder.names(5353).first else {
      self.init(status, error.description)
      return
    }
    self.init(status, "UDP port 5353 is taken by \(holder): end it")
  }

  /// The line and the status for what the network said.
  init(_ error: TransportError) {
    let status: ExitStatus =
      switch error {
      case .addressInUse: .portTaken
      case .permissionDenied: .notPermitted
      case .unreachable, .addressNotAvailable, .connectionRefused, .connectionReset: .unreachable
      case .noSuchInterface: .noMulticast
      case .timedOut: .timedOut
      default: .internal
      }
    self.init(status, error.description)
  }

  /// The line and the status for what name servers said.
  init(_ error: UnicastError) {
    let status: ExitStatus =
      switch error {
      case .nameError: .unavailable
      case .serverFailure, .refused, .unreachable, .noServers: .unreachable
      case .timedOut: .timedOut
      case .multicastName: .badName
      case .tooManyQueries, .cancelled, .closed: .internal
      }
    self.init(status, error.description)
  }

  /// The line and the status for any of these.
  init(any error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as DiscoveryError: self.init(error)
    case let error as TransportError: self.init(error)
    case let error as UnicastError: self.init(error)
    case let error as ServiceTypeError: self.init(.badName, error.description)
    case let error as TXTRecordError: self.init(.badName, "\(error)")
    default: self.init(.internal, "\(error)")
    }
  }
}
