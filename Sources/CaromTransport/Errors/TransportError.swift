import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What can go wrong between this process and the network; each case is another thing to do.
public enum TransportError: Error, Hashable, Sendable {
  /// Another socket has the port: choose another one, or 0 for any.
  case addressInUse(port: UInt16)
  /// This host has no such address: bind to one of its own.
  case addressNotAvailable(IPAddress)
  /// The system forbids it: a port under 1024, or a firewall.
  case permissionDenied
  /// No interface has that index, or it cannot do what was asked: list the interfaces again.
  case noSuchInterface
  /// There is no way to that host at present: check the network.
  case unreachable
  /// The host is there and nobody listens on that port: check the port.
  case connectionRefused
  /// The peer dropped the connection without a goodbye: connect again.
  case connectionReset
  /// No answer in time: try again or give up.
  case timedOut
  /// The socket or the loop is closed: open another one.
  case closed
  /// The peer reads too slowly: wait for `writable`, or close.
  case queueFull
  /// The task that waited was cancelled.
  case cancelled
  /// This process or system has no descriptors left: close some, or raise the limit.
  case outOfDescriptors
  /// No host has that name: check its spelling.
  case unknownHost(String)
  /// The name service does not answer: try again later.
  case nameServiceFailed(String)
  /// The system has no ports that several sockets share (`SO_REUSEPORT`): use one loop.
  case portSharingUnsupported
  /// The datagram is longer than the way allows: send less at once.
  case messageTooLarge
  /// Anything else: the system's error number and what was being done.
  case system(code: Int32, operation: StaticText)
}

extension TransportError: CustomStringConvertible {
  /// One line for people: what happened, and what to do.
  public var description: String {
    switch self {
    case .addressInUse(let port): "port \(port) is in use: choose another one"
    case .addressNotAvailable(let address): "this host has no address \(address)"
    case .permissionDenied: "the system forbids it: use a port over 1023, or check the firewall"
    case .noSuchInterface: "no such interface, or it cannot do that: list the interfaces again"
    case .unreachable: "there is no way to that host: check the network"
    case .connectionRefused: "nobody listens there: check the port"
    case .connectionReset: "the peer dropped the connection: connect again"
    case .timedOut: "no answer in time: try again"
    case .closed: "it is closed: open another one"
    case .queueFull: "the peer reads too slowly: wait until the stream is writable"
    case .cancelled: "cancelled"
    case .outOfDescriptors: "no descriptors are left: close some or raise the limit (ulimit -n)"
    case .unknownHost(let host): "no host is called \(host): check its spelling"
    case .nameServiceFailed(let host): "cannot look up \(host) at present: try again later"
    case .portSharingUnsupported: "this system cannot share a port among loops: use one loop"
    case .messageTooLarge: "the datagram is too long: send less at once"
    case .system(let code, let operation):
      "cannot \(operation): \(unsafe String(cString: strerror(code))) (\(code))"
    }
  }
}

extension TransportError {
  /// The case for a status of the C layer, a negative errno.
  init(status: Int32, _ operation: StaticText, at endpoint: Endpoint? = nil) {
    switch -status {
    case EADDRINUSE: self = .addressInUse(port: endpoint?.port ?? 0)
    case EADDRNOTAVAIL: self = .addressNotAvailable(endpoint?.address ?? .any4)
    case EACCES, EPERM: self = .permissionDenied
    case ENODEV, ENXIO: self = .noSuchInterface
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EAFNOSUPPORT: self = .unreachable
    case ECONNREFUSED: self = .connectionRefused
    case ECONNRESET, EPIPE, ECONNABORTED: self = .connectionReset
    case ETIMEDOUT: self = .timedOut
    case ECANCELED, EBADF: self = .closed
    case EMFILE, ENFILE: self = .outOfDescriptors
    case ENOSYS where endpoint != nil: self = .portSharingUnsupported
    case EMSGSIZE: self = .messageTooLarge
    default: self = .system(code: -status, operation: operation)
    }
  }
}

/// Throws the error of a negative status.
func check(
  _ status: Int32, _ operation: StaticText, at endpoint: Endpoint? = nil
) throws(TransportError) {
  if status < 0 { throw TransportError(status: status, operation, at: endpoint) }
}
