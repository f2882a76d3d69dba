import CaromCore
import CaromDNS
import CaromTransport

/// An error of discovery. Each case calls for a different reaction.
public enum DiscoveryError: Error, Hashable, Sendable {
  /// Another program has exclusive use of UDP port 5353: end it, or make it share the port.
  case portInUse
  /// The system does not permit multicast: check the firewall or the sandbox.
  case permissionDenied
  /// No interface can carry multicast: connect to a network, or select an interface by name.
  case noMulticastInterface
  /// This host has no interface with the given name, or the interface is down.
  case noSuchInterface(String)
  /// The service has no name.
  case nameMissing
  /// The service's name is too long: it takes the given number of bytes in UTF-8, and at most 63
  /// are allowed.
  case nameTooLong(Int)
  /// The name contains a control character, or is not a valid domain name.
  case nameInvalid
  /// Another service has the name and `renamesOnConflict` is false, or no free name was found
  /// within a minute.
  case nameTaken
  /// Within a minute, other hosts claimed every name that was tried for this host: find the host
  /// that claims all of them. The names of the services are not at fault.
  case hostNameContested
  /// This program already advertises 1,024 services: withdraw one.
  case tooManyServices
  /// This program has the maximum permitted number of open queries: stop one.
  case tooManyQuestions
  /// A subtype is not 1 to 63 bytes long, or there are more than 64 subtypes.
  case subtypeInvalid
  /// The TXT record, of the given length in bytes, is too long to fit into a message together with
  /// the name.
  case textTooLong(Int)
  /// The domain cannot be queried by multicast: use "local".
  case domainNotLocal(String)
  /// No name server is configured or reachable for a domain outside the link: connect to a network.
  case noNameServer
  /// No domain is recommended for registering services: name one.
  case noRegistrationDomain
  /// The name server does not know the key of the zone, or the key has another secret: use the key
  /// in the server's configuration.
  case keyRejected
  /// This host's clock is ahead of the name server's by the given number of seconds, which is more
  /// than 300, or less than -300 if it is behind: set the clock.
  case clocksDiffer(bySeconds: Int64)
  /// The name server has refused to change the zone, or could not: check the zone's update policy,
  /// and whether the server limits the number of records.
  case updateRefused
  /// The name server is not the primary server of the zone: name that server.
  case notPrimaryServer
  /// Port 0 cannot be advertised: listen first, then advertise the port that the system chose.
  case portMissing
  /// No answer arrived in time.
  case timedOut
  /// The service's host, which has the given name, has not published an address: try again.
  case hostHasNoAddress(String)
  /// The service no longer exists: its host or a name server denies its existence.
  case notOffered
  /// The calling task was cancelled.
  case cancelled
  /// Discovery was closed, or its loop has shut down: open it again.
  case closed
  /// Another error of the transport.
  case transport(TransportError)

  init(_ error: InstanceNameError) {
    self =
      switch error {
      case .empty: .nameMissing
      case .tooLong(let count): .nameTooLong(count)
      case .controlCharacter: .nameInvalid
      }
  }

  /// Creates the error for the reason why an update of a zone failed.
  init(update error: UnicastError) {
    self =
      switch error {
      case .nameInUse, .prerequisiteFailed: .nameTaken
      case .keyRejected: .keyRejected
      case .clocksDiffer(let seconds): .clocksDiffer(bySeconds: seconds)
      case .refused, .serverFailure: .updateRefused
      case .notAuthoritative, .nameError: .notPrimaryServer
      case .unreachable, .noServers: .noNameServer
      case .timedOut: .timedOut
      case .multicastName: .nameInvalid
      case .tooManyQueries: .tooManyQuestions
      case .cancelled: .cancelled
      case .closed: .closed
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
      case .noFreeHostName: .hostNameContested
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
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .portInUse: "another program has exclusive use of UDP port 5353: end that program"
    case .permissionDenied: "the system does not permit multicast: check the firewall"
    case .noMulticastInterface: "no interface can carry multicast: connect to a network"
    case .noSuchInterface(let name): "no interface '\(name)' is up: check the name"
    case .nameMissing: "a service needs a name: choose one"
    case .nameTooLong(let count): "a name has at most 63 bytes, this one has \(count): shorten it"
    case .nameInvalid: "the name is invalid: remove control characters and empty labels"
    case .nameTaken: "the name is taken: choose another one"
    case .hostNameContested:
      "every name of this host is contested: find the host that answers for all"
    case .tooManyServices: "this program already advertises 1024 services: withdraw one"
    case .tooManyQuestions: "this program has too many open queries: stop one"
    case .subtypeInvalid: "a service has at most 64 subtypes of 1 to 63 bytes each"
    case .textTooLong(let count): "a TXT record of \(count) bytes is too long: shorten it"
    case .domainNotLocal(let domain): "'\(domain)' cannot be queried by multicast: use \"local\""
    case .noNameServer: "no name server is available: connect to a network"
    case .noRegistrationDomain: "no domain is recommended for registering services: name one"
    case .keyRejected: "the name server rejected the key: use the key of the zone"
    case .clocksDiffer(let seconds):
      "this host's clock and the name server's differ by \(seconds.magnitude) s: set the clock"
    case .updateRefused:
      "the name server did not change the zone: check its update policy and its record limit"
    case .notPrimaryServer: "the server is not the zone's primary server: name that server"
    case .portMissing: "port 0 cannot be advertised: listen first, then advertise"
    case .timedOut: "no answer arrived in time: try again"
    case .hostHasNoAddress(let host): "host \(host) has not published an address: try again"
    case .notOffered: "the service no longer exists: browse again"
    case .cancelled: "the task was cancelled"
    case .closed: "discovery is closed: open it again"
    case .transport(let error): error.description
    }
  }
}

extension DiscoveryError {
  /// The error code that NSNetService reports in `NSNetServicesErrorCode`, -72000 to -72007, for
  /// code that is ported from NSNetService.
  public var netServiceCode: Int {
    switch self {
    case .nameTaken, .hostNameContested: -72001  // collision
    case .noSuchInterface, .noNameServer, .hostHasNoAddress, .notOffered, .noRegistrationDomain,
      .notPrimaryServer:
      -72002  // not found
    case .portInUse, .noMulticastInterface, .tooManyServices, .tooManyQuestions:
      -72003  // activity in progress
    case .nameMissing, .nameTooLong, .nameInvalid, .subtypeInvalid, .textTooLong, .portMissing,
      .domainNotLocal:
      -72004  // bad argument
    case .cancelled: -72005
    case .closed: -72006  // invalid
    case .timedOut: -72007
    case .permissionDenied, .transport, .keyRejected, .clocksDiffer, .updateRefused:
      -72000  // unknown
    }
  }
}
