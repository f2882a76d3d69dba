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
        let paused = try await PausedListener(on: loop)
        let listener = paused.listener
        precondition(listener.isPaused && listener.pauseCount == 1)
        let seen = paused.old.watch()
        try paused.server.write([7])
        guard await seen.next() == .bytes([7]) else { return fail("the peer died") }
        await refuse([listener.localEndpoint], on: loop)
        paused.old.reset()
        await paused.waitForStarved()
        precondition(!listener.isPaused && listener.pauseCount == 1)
      }
    }
  }

  #if os(Linux)
    @Test func `sockets leave some descriptors to the rest of the program`() async {
      await #expect(processExitsWith: .success) {
        // The last 8 descriptors are reserved.
        setDescriptorLimit(256)
        try await onLoop { loop in
          let events = Events<TCPListener.Event>()
          let listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) {
            events.add($0)
          }
          var streams: [TCPStream] = []
          await connectUntilRefused { () async throws(TransportError) in
            streams.append(try await TCPStream.connect(to: [listener.localEndpoint], on: loop))
            guard case .accepted(let stream) = await events.next() else { return fail("paused") }
            streams.append(stream)
          }
          precondition(streams.count > 150 && streams.count < 248)
          var socket: UDPSocket?
          await connectUntilRefused { () async throws(TransportError) in
            socket = try UDPSocket(on: loop) { _ in }
          }
          precondition(socket == nil)
          // Another program does not know of the reserve, so that only the listener keeps to it. It
          // may accept one connection more, because it learns of the descriptor by accepting.
          let others = (0..<3).map { _ in PlainPeer(port: listener.localEndpoint.port) }
          for _ in 0..<2 where !listener.isPaused { _ = await events.next() }
          precondition(listener.isPaused && others.count == 3)
          precondition(FileManager.default.contents(atPath: "/proc/self/stat")?.isEmpty == false)
        }
      }
    }
  #endif

  @Test func `a paused listener that its owner stops accepts again when the owner says so`() async {
    await #expect(processExitsWith: .success) {
      try await onLoop { loop in
        let paused = try await PausedListener(on: loop)
        paused.listener.setAccepting(false)
        await paused.freeDescriptors()
        try await pass(on: loop)
        precondition(paused.events.count == 0)
        paused.listener.setAccepting(true)
        await paused.waitForStarved()
      }
    }
  }

  @Test func `a listener that its owner stops after a pause leaves connections in the backlog`()
    async
  {
    await #expect(processExitsWith: .success) {
      try await onLoop { loop in
        let paused = try await PausedListener(on: loop)
        await paused.freeDescriptors()
        precondition(paused.listener.isPaused)
        paused.listener.setAccepting(false)
        try await pass(on: loop)
        precondition(paused.events.count == 0)
        paused.listener.setAccepting(true)
        await paused.waitForStarved()
      }
    }
  }
}

/// A listener that has paused because no descriptor is left for a peer that waits.
private struct PausedListener {
  let listener: TCPListener
  let events: Events<TCPListener.Event>
  /// Both ends of an earlier connection.
  let old: TCPStream
  let server: TCPStream
  /// The peer that waits.
  let starved: TCPStream

  init(on loop: NetworkLoop) async throws {
    let events = Events<TCPListener.Event>()
    self.events = events
    listener = try TCPListener(on: loop, bind: Endpoint(.loopback4, port: 0)) { events.add($0) }
    old = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
    guard case .accepted(let server) = await events.next() else { fatalError("no peer") }
    self.server = server
    setDescriptorsLeft(1)
    starved = try await TCPStream.connect(to: [listener.localEndpoint], on: loop)
    guard case .paused(.outOfDescriptors) = await events.next() else { fatalError("not paused") }
  }

  /// Frees enough descriptors and waits until the listener has been notified. It has not polled for
  /// connections yet then.
  func freeDescriptors() async {
    setDescriptorsLeft(64)
    old.reset()
    await Task.yield()
  }

  /// Waits until the listener has resumed and accepted the peer.
  func waitForStarved() async {
    guard case .resumed = await events.next() else { return fail("not resumed") }
    guard case .accepted(let late) = await events.next() else { return fail("not accepted") }
    precondition(late.peerEndpoint == starved.localEndpoint)
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

private func connectUntilRefused(_ connect: () async throws(TransportError) -> Void) async {
  do throws(TransportError) {
    for _ in 0..<256 { try await connect() }
    fail("not refused")
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
  setDescriptorLimit(rlim_t(Array(free)[count]))
}

private func setDescriptorLimit(_ soft: rlim_t) {
  var limit = rlimit(rlim_cur: soft, rlim_max: 1024)
  precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
}
