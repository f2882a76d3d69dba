import CaromCore
import CaromDNS
import CaromTransport

/// What can go wrong with discovery; each case is another thing to do.
public enum DiscoveryError: Error, Hashable, Sendable {
  /// Another program has UDP port 5353 for itself: end it, or let it share the port.
  case portInUse
  /// The system forbids multicast: check the firewall or the sandbox.
  case permissionDenied
  /// No interface can carry multicast: connect to a network, or name one.
  case noMulticastInterface
  /// This host has no interface of that name, or it is down.
  case noSuchInterface(String)
  /// A service needs a name.
  case nameMissing
  /// A name of that many UTF-8 bytes; at most 63 are allowed.
  case nameTooLong(Int)
  /// A name with a control character.
  case nameInvalid
  /// Others have the name and it may not change, or no free one was found within a minute.
  case nameTaken
  /// This program advertises 1,024 services already: withdraw one.
  case tooManyServices
  /// This program asks as much as it may at a time: stop watching something.
  case tooManyQuestions
  /// A subtype that is not 1 to 63 bytes, or more than 64 of them.
  case subtypeInvalid
  /// Strings of that many bytes, which no message holds beside the name.
  case textTooLong(Int)
  /// A domain that is not asked for by multicast: browse "local".
  case domainNotLocal(String)
  /// No name server can be asked for a domain beyond the link: connect to a network.
  case noNameServer
  /// Port 0 cannot be advertised: listen first and advertise the port that the system chose.
  case portMissing
  /// Nobody answered in time.
  case timedOut
  /// The service's host, of that name, told no address: try again.
  case hostHasNoAddress(String)
  /// The service's host says that it does not offer it.
  case notOffered
  /// The task that waited was cancelled.
  case cancelled
  /// Discovery was closed: open it again.
  case closed
  /// The transport failed in another way.
  case transport(TransportError)

  init(_ error: InstanceNameError) {
    self =
      switch error {
      case .empty: .nameMissing
      case .tooLong(let count): .nameTooLong(count)
      case .controlCharacter: .nameInvalid
      }
  }

  init(_ error: PublicationError) {
    self =
      switch error {
      case .tooMany: .tooManyServices
      case .name(let error): DiscoveryError(error)
      case .subtype, .subtypes: .subtypeInvalid
      case .textTooLong(let count): .textTooLong(count)
      case .nameTaken, .noFreeName: .nameTaken
      }
  }

  init(_ failure: ResolveFailure) {
    self =
      switch failure {
      case .noAnswer: .timedOut
      case .noAddress(let host): .hostHasNoAddress(host.description)
      case .notOffered: .notOffered
      case .tooMany: .tooManyQuestions
      }
  }

  init(_ error: TransportError) {
    self =
      switch error {
      case .addressInUse: .portInUse
      case .permissionDenied: .permissionDenied
      case .closed: .closed
      case .cancelled: .cancelled
      default: .transport(error)
      }
  }
}

extension DiscoveryError: CustomStringConvertible {
  /// One line for people: what happened, and what to do.
  public var description: String {
    switch self {
    case .portInUse: "another program keeps UDP port 5353 for itself: end it"
    case .permissionDenied: "the system forbids multicast: check the firewall"
    case .noMulticastInterface: "no interface can carry multicast: connect to a network"
    case .noSuchInterface(let name): "no interface '\(name)' is up: check its name"
    case .nameMissing: "a service needs a name"
    case .nameTooLong(let count): "a name may have 63 bytes, this one has \(count): shorten it"
    case .nameInvalid: "a name may not have control characters"
    case .nameTaken: "the name is taken: choose another one"
    case .tooManyServices: "1024 services are advertised already: withdraw one"
    case .tooManyQuestions: "too much is asked at a time: stop watching something"
    case .subtypeInvalid: "a service may have 64 subtypes of 1 to 63 bytes"
    case .textTooLong(let count): "strings of \(count) bytes fit no message: shorten them"
    case .domainNotLocal(let domain): "multicast does not reach '\(domain)': use \"local\""
    case .noNameServer: "no name server can be asked: connect to a network"
    case .portMissing: "port 0 cannot be advertised: listen first"
    case .timedOut: "nobody answered in time: try again"
    case .hostHasNoAddress(let host): "host \(host) tells no address: try again"
    case .notOffered: "the service is not offered any more"
    case .cancelled: "cancelled"
    case .closed: "discovery is closed: open it again"
    case .transport(let error): error.description
    }
  }
}

extension DiscoveryError {
  /// The code that NSNetService reports in `NSNetServicesErrorCode`, -72000 to -72007, for code
  /// that comes from there.
  public var netServiceCode: Int {
    switch self {
    case .nameTaken: -72001  // collision
    case .noSuchInterface, .noNameServer, .hostHasNoAddress, .notOffered: -72002  // not found
    case .portInUse, .noMulticastInterface, .tooManyServices, .tooManyQuestions:
      -72003  // activity in progress
    case .nameMissing, .nameTooLong, .nameInvalid, .subtypeInvalid, .textTooLong, .portMissing,
      .domainNotLocal:
      -72004  // bad argument
    case .cancelled: -72005
    case .closed: -72006  // invalid
    case .timedOut: -72007
    case .permissionDenied, .transport: -72000  // unknown
    }
  }
}
