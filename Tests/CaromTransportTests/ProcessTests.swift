import CUVLoop
import CaromCore
import Foundation
import Testing

@testable import CaromTransport

/// Tests of process-wide resources; each runs in a child process.
@Suite(.timeLimit(.minutes(1))) struct ProcessTests {
  @Test func `starting and stopping loops repeatedly leaves no descriptor and no thread`() async {
    await #expect(processExitsWith: .success) {
      try await startAndStop()
      let (descriptors, threads) = (descriptorCount(), threadCount())
      #if DEBUG
        let rounds = 200
      #else
        let rounds = 1000
      #endif
      for _ in 0..<rounds { try await startAndStop() }
      precondition(
        descriptorCount() <= descriptors + runtimeShare, "\(descriptorCount()), \(descriptors)")
      precondition(threadCount() <= threads + runtimeShare, "\(threadCount()), \(threads)")
    }
  }

  @Test func `releasing the last references ends the thread and closes the sockets`() async {
    await #expect(processExitsWith: .success) {
      try await startAndStop()
      let descriptors = descriptorCount()
      for _ in 0..<20 {
        let loop = try NetworkLoop()
        let socket = await loop.run { LoopBound(try? UDPSocket(on: loop) { _ in }) }
        precondition(socket.value != nil)
      }
      // The threads end asynchronously. If they do not end, the time limit stops the child process.
      while descriptorCount() > descriptors + runtimeShare { await Task.yield() }
    }
  }

  @Test func `a C handle that is left open at shutdown traps`() async {
    await #expect(processExitsWith: .failure) {
      let loop = try NetworkLoop()
      try await loop.run {
        var timer: OpaquePointer?
        let core = loop.core
        try unsafe check(cuv_timer_create(core.handle!, core.context, { _ in }, &timer), "leak")
      }
      await loop.shutdown()
    }
  }

  @Test func `writing to a stream that was reset throws and raises no signal`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_DFL)
      try await onLoop { loop in
        let pair = try await makePair(on: loop)
        pair.client.reset()
        var error: TransportError?
        while error == nil {
          do throws(TransportError) {
            try pair.server.write([1])
          } catch let thrown {
            error = thrown
          }
        }
        precondition(error == .connectionReset, "\(error!)")
      }
    }
  }

  @Test func `accepting pauses without descriptors and resumes when one is free`() async {
    await #expect(processExitsWith: .success) {
      try await onLoop { loop in
        let events = Events<TCPListener.Event>()
        let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) {
          events.add($0)
        }
        var address: [Endpoint] { [listener.localEndpoint] }
        let old = try await TCPStream.connect(to: address, on: loop)
        guard case .accepted(let server) = await events.next() else { return fail("no peer") }
        setDescriptorsLeft(1)
        let starved = try await TCPStream.connect(to: address, on: loop)
        guard case .paused(.outOfDescriptors) = await events.next() else { return fail("paused") }
        precondition(listener.isPaused && listener.pauseCount == 1)
        let seen = old.watch()
        try server.write([7])
        guard await seen.next() == .bytes([7]) else { return fail("the peer died") }
        await refuse(address, on: loop)
        old.reset()
        guard case .resumed = await events.next() else { return fail("resumed") }
        guard case .accepted(let late) = await events.next() else { return fail("accepted") }
        precondition(late.peerEndpoint == starved.localEndpoint && listener.pauseCount == 1)
      }
    }
  }
}

/// The largest number of threads or descriptors that the Swift runtime opens for itself during a
/// test. Leaking loops would leave several times as many.
private let runtimeShare = 16

private func startAndStop() async throws {
  try await onLoop { loop in
    let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { _ in }
    listener.close()
    listener.close()
  }
}

private func refuse(_ address: [Endpoint], on loop: NetworkLoop) async {
  do throws(TransportError) {
    _ = try await TCPStream.connect(to: address, on: loop)
    fail("connected without a descriptor")
  } catch {
    precondition(error == .outOfDescriptors, "\(error)")
  }
}

private func fail(_ what: String) { fatalError(what) }

private func isUsed(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

private func descriptorCount() -> Int { (0..<1024).count(where: isUsed) }

private func threadCount() -> Int {
  (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
}

/// Lowers the soft limit so that `count` more descriptors can be opened.
private func setDescriptorsLeft(_ count: Int) {
  let free = (0..<1024).lazy.filter { !isUsed($0) }.prefix(count + 1)
  var limit = rlimit(rlim_cur: rlim_t(Array(free)[count]), rlim_max: 1024)
  precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
}
