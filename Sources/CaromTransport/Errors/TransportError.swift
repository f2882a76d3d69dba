import CUVLoop
import CaromCore

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An error of a socket, a loop or the network. Each case calls for a different reaction.
public enum TransportError: Error, Hashable, Sendable {
  /// Another socket is bound to the port: choose another port, or 0 for any free one.
  case addressInUse(port: UInt16)
  /// This host does not have the address: bind to one of the addresses of this host.
  case addressNotAvailable(IPAddress)
  /// The system does not permit the operation, for example because the port is below 1024 or a
  /// firewall forbids it.
  case permissionDenied
  /// No interface has the index, or the interface does not support the operation: list the
  /// interfaces again.
  case noSuchInterface
  /// There is currently no route to the host: check the network.
  case unreachable
  /// The host responded that no program listens on the port: check the port.
  case connectionRefused
  /// The peer reset the connection: connect again.
  case connectionReset
  /// No answer arrived in time: try again.
  case timedOut
  /// The socket or the loop is closed: open a new one.
  case closed
  /// The send queue is full because the peer reads too slowly: wait for `writable`, or close.
  case queueFull
  /// The calling task was cancelled.
  case cancelled
  /// The process or the system has no file descriptors left: close some, or raise the limit.
  ///
  /// Sockets leave the last descriptors of the process, one of 32 but at most 64, to the rest of
  /// the program, so that it can still open files. On Linux, libdispatch ends a process that
  /// cannot.
  case outOfDescriptors
  /// No host has the name: check its spelling.
  case unknownHost(String)
  /// The name service did not answer the query for the host: try again later.
  case nameServiceFailed(String)
  /// The system does not support sockets that share a port (`SO_REUSEPORT`): use one loop.
  case portSharingUnsupported
  /// The datagram is longer than the path allows: send shorter datagrams.
  case messageTooLarge
  /// Any other error: the system's error number and the operation that failed.
  case system(code: Int32, operation: StaticText)
}

extension TransportError: CustomStringConvertible {
  /// A line for users that says what happened and what to do.
  public var description: String {
    switch self {
    case .addressInUse(let port): "port \(port) is in use: choose another one"
    case .addressNotAvailable(let address):
      "this host has no address \(address): choose one of its own"
    case .permissionDenied:
      "not permitted by the system: use a port above 1023, or check the firewall"
    case .noSuchInterface:
      "no such interface, or it cannot do that: list the interfaces again"
    case .unreachable: "there is no route to the host: check the network"
    case .connectionRefused: "no program listens on the port: check the port"
    case .connectionReset: "the peer reset the connection: connect again"
    case .timedOut: "no answer arrived in time: try again"
    case .closed: "the socket or loop is closed: open a new one"
    case .queueFull: "the peer reads too slowly: wait until the stream is writable"
    case .cancelled: "the task was cancelled"
    case .outOfDescriptors:
      "no file descriptors are left: close some or raise the limit (ulimit -n)"
    case .unknownHost(let host): "no host has the name \(host): check its spelling"
    case .nameServiceFailed(let host):
      "the name service does not answer for \(host): try again later"
    case .portSharingUnsupported: "this system cannot share a port between loops: use one loop"
    case .messageTooLarge: "the datagram is too long: send shorter datagrams"
    case .system(let code, let operation):
      "cannot \(operation): \(unsafe String(cString: strerror(code))) (\(code))"
    }
  }
}

extension TransportError {
  /// Creates the error for a status returned by the C code, which is a negative errno.
  init(status: Int32, _ operation: StaticText, at endpoint: Endpoint? = nil) {
    let other = Self.system(code: -status, operation: operation)
    switch -status {
    case EADDRINUSE: self = endpoint.map { .addressInUse(port: $0.port) } ?? other
    case EADDRNOTAVAIL: self = endpoint.map { .addressNotAvailable($0.address) } ?? other
    case EACCES, EPERM: self = .permissionDenied
    case ENODEV, ENXIO: self = .noSuchInterface
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EAFNOSUPPORT: self = .unreachable
    case ECONNREFUSED: self = .connectionRefused
    case ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN: self = .connectionReset
    case ETIMEDOUT: self = .timedOut
    case ECANCELED, EBADF: self = .closed
    case EMFILE, ENFILE: self = .outOfDescriptors
    case ENOSYS where endpoint != nil: self = .portSharingUnsupported
    case EMSGSIZE: self = .messageTooLarge
    default: self = other
    }
  }
}

/// Throws a `TransportError` if `status` is negative.
func check(
  _ status: Int32, _ operation: StaticText, at endpoint: Endpoint? = nil
) throws(TransportError) {
  if status < 0 { throw TransportError(status: status, operation, at: endpoint) }
}
