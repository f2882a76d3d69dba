import CaromCore
import Testing

@testable import CaromTransport

#if canImport(Glibc)
  import Glibc
#endif

@Suite(.timeLimit(.minutes(1))) struct InterfaceTests {
  @Test func `the list has the loopback interface with its address and flags`() throws {
    let interfaces = try Interfaces.list()
    let loopback = try #require(interfaces.first { $0.isLoopback })
    #expect(loopback.index > 0 && loopback.isUp && loopback.isRunning && !loopback.isPointToPoint)
    #expect(loopback.addresses.contains(.init(.loopback4, prefixLength: 8)))
    #expect(Set(interfaces.map(\.index)).count == interfaces.count)
  }

  #if os(Linux)
    @Test(.enabled(if: geteuid() == 0, "a network namespace of its own needs root"))
    func `an interface that goes up is reported`() async throws {
      try await onLoop { loop in
        // Only the loop's thread moves to an empty network namespace, whose loopback is down.
        guard OwnNetwork.enter() else { return }
        let changes = Events<Bool>()
        let monitor = try InterfaceMonitor(on: loop) {
          let loopback = try? Interfaces.list().first { $0.isLoopback }
          changes.add(loopback?.isUp ?? false)
        }
        #expect(try Interfaces.list().first?.isUp == false)
        setLoopbackUp()
        #expect(await changes.next())
        monitor.stop()
      }
    }
  #endif

  @Test func `names and addresses in text are looked up`() async throws {
    try await withNetworkLoop { loop in
      #expect(try await loop.lookup(host: "10.1.2.3") == [.v4(0x0A01_0203)])
      #expect(try await loop.lookup(host: "::1") == [.loopback6])
      let local = try await loop.lookup(host: "localhost")
      #expect(!local.isEmpty && local.allSatisfy(\.isLoopback))
    }
  }

  @Test func `an invalid name throws unknownHost, and a cancelled lookup ends`() async throws {
    await withNetworkLoop { loop in
      let host = String(repeating: "x", count: 300)
      await #expect(throws: TransportError.unknownHost(host)) {
        _ = try await loop.lookup(host: host)
      }
      let task = Task { try await loop.lookup(host: "localhost") }
      task.cancel()
      _ = await task.result
    }
  }

  #if os(Linux)
    @Test func `a lookup without memory does not report that the host is unknown`() {
      #expect(LookupCore.rejection(of: "x", -EINVAL) == .unknownHost("x"))
      let error = LookupCore.rejection(of: "x", -ENOMEM)
      #expect(error == .system(code: ENOMEM, operation: "look up a host"))
    }
  #endif
}

#if os(Linux)
  private func setLoopbackUp() {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(descriptor) }
    var request = unsafe ifreq()
    unsafe withUnsafeMutableBytes(of: &request.ifr_ifrn.ifrn_name) { name in
      unsafe name.copyBytes(from: Array("lo".utf8))
    }
    unsafe request.ifr_ifru.ifru_flags = Int16(IFF_UP)
    let status = unsafe ioctl(descriptor, UInt(SIOCSIFFLAGS), &request)
    #expect(status == 0)
  }
#endif
