#if os(Linux)
  import CSystemCalls
  import Glibc
  import Testing

  @testable import CaromTransport

  /// A fault that the next calls of a system function by the current thread meet.
  struct Fault {
    private let number: Int32

    /// Arms a fault: after `skipped` calls, `count` calls of `call` fail with `error`. With an
    /// `error` of 0, they do only as much as `limit` permits.
    @discardableResult
    init(
      _ call: sc_call, _ error: Int32 = 0, count: Int = 1, after skipped: Int = 0,
      on descriptor: Int32 = any, detail: Int32 = any, limit: Int = 0
    ) {
      unsafe self.init(
        arming: sc_fault(
          call: call, descriptor: descriptor, detail: detail, skipped: Int32(skipped),
          count: Int32(count), error: error, limit: limit, bytes: nil, offset: 0))
    }

    /// Arms a fault: the next calls of `recv` receive `bytes` at `offset` in place of what was sent
    /// there. The copy of the bytes is never freed.
    @discardableResult
    init(receiving bytes: [UInt8], at offset: Int, count: Int = 1) {
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
      unsafe copy.initialize(from: bytes, count: bytes.count)
      unsafe self.init(
        arming: sc_fault(
          call: SC_RECV, descriptor: Self.any, detail: Self.any, skipped: 0, count: Int32(count),
          error: 0, limit: bytes.count, bytes: copy, offset: offset))
    }

    private init(arming fault: sc_fault) {
      var fault = unsafe fault
      number = unsafe sc_arm(&fault)
      precondition(number >= 0, "a thread can arm \(SC_FAULTS) faults")
    }

    /// The number of calls that have met the fault.
    var hits: Int { Int(sc_hits(number)) }

    /// Matches every descriptor, option or operation.
    static let any = Int32(SC_ANY)

    /// Removes the faults of the current thread.
    static func disarm() { sc_disarm() }

    /// The number of descriptors that the current thread has opened and not closed.
    static var descriptors: Int { sc_descriptors() }
  }

  /// Constants that the Glibc module lacks.
  enum Missing {
    static let epollAdd: Int32 = 1  // EPOLL_CTL_ADD
    static let netlinkError: UInt16 = 2  // NLMSG_ERROR
    static let noData: Int32 = -5  // EAI_NODATA
    static let noFamily: Int32 = -9  // EAI_ADDRFAMILY
  }

  /// A system call that fails once, and the error that is reported then.
  struct FailingCall: Sendable, CustomTestStringConvertible {
    let name: String
    let call: sc_call
    let code: Int32
    let detail: Int32
    let skipped: Int
    let limit: Int
    let error: TransportError

    init(
      _ name: String, _ call: sc_call, _ code: Int32, _ error: TransportError,
      detail: Int32 = Fault.any, after skipped: Int = 0, limit: Int = 0
    ) {
      self.name = name
      self.call = call
      self.code = code
      self.detail = detail
      self.skipped = skipped
      self.limit = limit
      self.error = error
    }

    var testDescription: String { "\(name) \(unsafe String(cString: strerror(code)))" }

    func arm() -> Fault { Fault(call, code, after: skipped, detail: detail, limit: limit) }
  }

  /// A blocking TCP client without a loop, which is connected as soon as it exists.
  final class PlainPeer {
    let descriptor: Int32

    init(port: UInt16) {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let status = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
          unsafe connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      #expect(status == 0)
    }

    deinit { close(descriptor) }

    /// Waits for the end of the connection, and returns whether it ended without any byte.
    func isAtEnd() -> Bool {
      var byte: UInt8 = 0
      return unsafe read(descriptor, &byte, 1) <= 0
    }
  }
#endif
