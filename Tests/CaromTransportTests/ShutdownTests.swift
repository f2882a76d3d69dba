#if os(Linux)
  import CaromTransport
  import Foundation
  import Testing

  @Suite(.timeLimit(.minutes(1))) struct ShutdownTests {
    @Test func `every caller of shutdown waits until the loop's thread has ended`() async throws {
      let loop = try NetworkLoop()
      let end = ThreadEnd()
      await loop.run { end.watchThisThread() }
      // Each caller runs on a thread of its own, so that none waits for another one.
      await withNetworkLoop { first in
        await withNetworkLoop { second in
          let callers = [first, second].map { caller in
            Task(executorPreference: caller) {
              await loop.shutdown()
              return end.hasPassed()
            }
          }
          for caller in callers { #expect(await caller.value) }
        }
      }
    }
  }

  /// The end of a thread. It is delayed until a caller asks for it too early, or for 100 ms, so
  /// that a caller that does not wait for the end is noticed.
  private final class ThreadEnd: Sendable {
    private let isOver = Locked(false)
    private let question = DispatchSemaphore(value: 0)

    func watchThisThread() {
      var key = pthread_key_t()
      unsafe pthread_key_create(&key) { end in
        unsafe Unmanaged<ThreadEnd>.fromOpaque(end!).takeRetainedValue().pass()
      }
      unsafe pthread_setspecific(key, Unmanaged.passRetained(self).toOpaque())
    }

    private func pass() {
      _ = question.wait(timeout: .now() + .milliseconds(100))
      isOver.withLock { $0 = true }
    }

    func hasPassed() -> Bool {
      defer { question.signal() }
      return isOver.withLock { $0 }
    }
  }
#endif
