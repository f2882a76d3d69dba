import CaromCore
import CaromProtocol
import Testing

@testable import CaromSession

/// Watched inputs, in virtual time (SessionEvent.inputStopped and inputResumed).
@Suite struct InputWatchdogTests {
  private let first = ConnectionID(1)
  private let second = ConnectionID(2)
  private let watchdog = Watchdog()

  /// A watchdog whose calls have times in milliseconds.
  private final class Watchdog {
    var inputs = InputWatchdog()

    /// Creates a watchdog with the connections 1 and 2.
    init() {
      for number in UInt64(1)...2 { inputs.add(ConnectionID(number)) }
    }

    func watch(_ channel: UInt8, limit: Duration?) { inputs.watch(channel, limit: limit) }

    func record(_ connection: ConnectionID, _ channel: UInt8, at milliseconds: Int64) -> Bool {
      inputs.recordMessage(of: connection, on: channel, at: .milliseconds(milliseconds))
    }

    /// The inputs that have stopped by then, as "connection/channel".
    func stopped(at milliseconds: Int64) -> [String] {
      inputs.takeStopped(at: .milliseconds(milliseconds)).map {
        "\($0.connection.number)/\($0.channel)"
      }
    }

    func remove(_ connection: ConnectionID) -> [UInt8] { inputs.remove(connection) }
  }

  @Test func `an input stops at its limit, once, and not a nanosecond earlier`() {
    watchdog.watch(3, limit: .milliseconds(100))
    #expect(watchdog.inputs.nextTimeout == nil)
    #expect(!watchdog.record(first, 3, at: 50))
    #expect(watchdog.inputs.nextTimeout == .milliseconds(150))
    #expect(watchdog.inputs.takeStopped(at: Instant(nanoseconds: 149_999_999)).isEmpty)
    #expect(watchdog.stopped(at: 150) == ["1/3"])
    #expect(watchdog.stopped(at: 1_000).isEmpty)
    #expect(watchdog.inputs.nextTimeout == nil)
  }

  @Test func `each message begins the limit again, and only one resumes an input`() {
    watchdog.watch(3, limit: .milliseconds(100))
    #expect(!watchdog.record(first, 3, at: 0) && !watchdog.record(first, 3, at: 99))
    #expect(watchdog.stopped(at: 198).isEmpty)
    #expect(watchdog.stopped(at: 199) == ["1/3"])
    #expect(watchdog.record(first, 3, at: 500))
    #expect(!watchdog.record(first, 3, at: 500))
    #expect(watchdog.inputs.nextTimeout == .milliseconds(600))
    #expect(watchdog.stopped(at: 600) == ["1/3"])
    #expect(watchdog.record(first, 3, at: 700))
  }

  @Test func `each connection and each channel is an input of its own`() {
    watchdog.watch(3, limit: .milliseconds(100))
    watchdog.watch(4, limit: .milliseconds(300))
    for (connection, channel, time) in [(first, 3, 0), (second, 3, 20), (first, 4, 10)] {
      #expect(!watchdog.record(connection, UInt8(channel), at: Int64(time)))
    }
    #expect(watchdog.inputs.nextTimeout == .milliseconds(100))
    #expect(watchdog.stopped(at: 119) == ["1/3"])
    #expect(watchdog.inputs.nextTimeout == .milliseconds(120))
    #expect(!watchdog.record(first, 4, at: 119) && !watchdog.record(second, 3, at: 119))
    #expect(watchdog.inputs.nextTimeout == .milliseconds(219))
    #expect(watchdog.stopped(at: 419) == ["2/3", "1/4"])
    #expect(watchdog.remove(first).isEmpty)
    #expect(watchdog.record(second, 3, at: 420))
  }

  @Test func `an input that has not stopped stops when its connection ends`() {
    for channel in UInt8(1)...3 { watchdog.watch(channel, limit: .milliseconds(100)) }
    #expect(
      !watchdog.record(first, 1, at: 0) && !watchdog.record(first, 2, at: 50)
        && !watchdog.record(first, 3, at: 50))
    #expect(!watchdog.record(second, 2, at: 60))
    #expect(watchdog.stopped(at: 100) == ["1/1"])
    #expect(watchdog.remove(first) == [2, 3])
    #expect(watchdog.remove(first).isEmpty)
    #expect(watchdog.inputs.nextTimeout == .milliseconds(160))
    // A message that is read after the end of its connection is no input.
    #expect(!watchdog.record(first, 1, at: 160))
    #expect(watchdog.stopped(at: 1_000) == ["2/2"] && watchdog.inputs.nextTimeout == nil)
    // A new connection with the same id begins as an input that has not stopped.
    watchdog.inputs.add(first)
    #expect(!watchdog.record(first, 1, at: 2_000))
    #expect(watchdog.inputs.nextTimeout == .milliseconds(2_100))
  }

  @Test func `a channel that is no longer watched has no inputs`() {
    watchdog.watch(3, limit: .milliseconds(100))
    watchdog.watch(4, limit: .milliseconds(200))
    #expect(!watchdog.record(first, 3, at: 0) && !watchdog.record(first, 4, at: 0))
    #expect(watchdog.inputs.channels.contains(3) && watchdog.inputs.channels.contains(4))
    watchdog.watch(3, limit: nil)
    #expect(!watchdog.inputs.channels.contains(3) && watchdog.inputs.channels.contains(4))
    #expect(watchdog.inputs.nextTimeout == .milliseconds(200))
    #expect(watchdog.stopped(at: 199).isEmpty)
    #expect(watchdog.remove(first) == [4])
    watchdog.watch(5, limit: nil)
    #expect(!watchdog.inputs.channels.contains(5))
  }

  @Test func `a new limit replaces the old one, also for inputs that are known`() {
    watchdog.watch(3, limit: .milliseconds(100))
    #expect(!watchdog.record(first, 3, at: 0))
    watchdog.watch(3, limit: .milliseconds(500))
    #expect(watchdog.inputs.nextTimeout == .milliseconds(500))
    #expect(watchdog.stopped(at: 499).isEmpty)
    watchdog.watch(3, limit: .milliseconds(20))
    #expect(watchdog.stopped(at: 499) == ["1/3"])
  }
}

extension Instant {
  fileprivate static func milliseconds(_ count: Int64) -> Instant {
    Instant(nanoseconds: count * 1_000_000)
  }
}
