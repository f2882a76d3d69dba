import CaromCore
import Testing

@testable import CaromTransport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The meaning of the system's errors, and what users read about them.
@Suite struct TransportErrorTests {
  private static let endpoint = Endpoint(.v4(0x0A00_0001), port: 7777)

  private static func other(_ code: Int32) -> TransportError {
    .system(code: code, operation: "listen")
  }

  /// Each error number, with the error of an operation that has an endpoint and one that has none.
  private static let reactions: [(Int32, TransportError, TransportError)] = [
    (EADDRINUSE, TransportError.addressInUse(port: 7777), other(EADDRINUSE)),
    (EADDRNOTAVAIL, .addressNotAvailable(.v4(0x0A00_0001)), other(EADDRNOTAVAIL)),
    (ENOSYS, .portSharingUnsupported, other(ENOSYS)),
    (EINVAL, other(EINVAL), other(EINVAL)), (ENOMEM, other(ENOMEM), other(ENOMEM)),
    (EACCES, .permissionDenied, .permissionDenied), (EPERM, .permissionDenied, .permissionDenied),
    (ENODEV, .noSuchInterface, .noSuchInterface), (ENXIO, .noSuchInterface, .noSuchInterface),
    (ENETUNREACH, .unreachable, .unreachable), (EHOSTUNREACH, .unreachable, .unreachable),
    (ENETDOWN, .unreachable, .unreachable), (EHOSTDOWN, .unreachable, .unreachable),
    (EAFNOSUPPORT, .unreachable, .unreachable),
    (ECONNREFUSED, .connectionRefused, .connectionRefused),
    (ECONNRESET, .connectionReset, .connectionReset), (EPIPE, .connectionReset, .connectionReset),
    (ECONNABORTED, .connectionReset, .connectionReset),
    (ENOTCONN, .connectionReset, .connectionReset), (ETIMEDOUT, .timedOut, .timedOut),
    (ECANCELED, .closed, .closed), (EBADF, .closed, .closed),
    (EMFILE, .outOfDescriptors, .outOfDescriptors), (ENFILE, .outOfDescriptors, .outOfDescriptors),
    (EMSGSIZE, .messageTooLarge, .messageTooLarge),
  ]

  @Test(arguments: reactions)
  func `each error of the system calls for its own reaction`(
    code: Int32, atEndpoint: TransportError, elsewhere: TransportError
  ) {
    #expect(TransportError(status: -code, "listen", at: Self.endpoint) == atEndpoint)
    #expect(TransportError(status: -code, "listen") == elsewhere)
    #expect(throws: elsewhere) { try check(-code, "listen") }
  }

  @Test(arguments: [0, 1, .max] as [Int32])
  func `a status that is not negative is no error`(status: Int32) {
    #expect(throws: Never.self) { try check(status, "listen") }
  }

  private static let texts: [(TransportError, String)] = [
    (TransportError.addressInUse(port: 80), "port 80 is in use: choose another one"),
    (
      .addressNotAvailable(.loopback4),
      "this host has no address 127.0.0.1: choose one of its own"
    ),
    (
      .permissionDenied,
      "not permitted by the system: use a port above 1023, or check the firewall"
    ),
    (.noSuchInterface, "no such interface, or it cannot do that: list the interfaces again"),
    (.unreachable, "there is no route to the host: check the network"),
    (.connectionRefused, "no program listens on the port: check the port"),
    (.connectionReset, "the peer reset the connection: connect again"),
    (.timedOut, "no answer arrived in time: try again"),
    (.closed, "the socket or loop is closed: open a new one"),
    (.queueFull, "the peer reads too slowly: wait until the stream is writable"),
    (.cancelled, "the task was cancelled"),
    (
      .outOfDescriptors,
      "no file descriptors are left: close some or raise the limit (ulimit -n)"
    ),
    (.unknownHost("maya"), "no host has the name maya: check its spelling"),
    (.nameServiceFailed("maya"), "the name service does not answer for maya: try again later"),
    (.portSharingUnsupported, "this system cannot share a port between loops: use one loop"),
    (.messageTooLarge, "the datagram is too long: send shorter datagrams"),
    (
      .system(code: EINVAL, operation: "open a loop"),
      "cannot open a loop: Invalid argument (\(EINVAL))"
    ),
  ]

  @Test(arguments: texts)
  func `each error says what happened and what to do`(error: TransportError, text: String) {
    #expect(error.description == text)
  }
}
