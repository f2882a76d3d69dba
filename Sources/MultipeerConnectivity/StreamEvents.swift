import CaromTransport
import Foundation

/// Tells the delegate of a stream what has happened, on the run loop in which the stream is
/// scheduled.
///
/// Events wait until the stream is scheduled. An event that is due already is not added twice.
final class StreamEvents: Sendable {
  /// A run loop, to which other threads add timers. That wakes it, unlike `RunLoop.perform`.
  private struct Schedule: @unchecked Sendable {  // only timers are added and invalidated
    let runLoop: RunLoop
    let mode: RunLoop.Mode
    /// Keeps the run loop from ending for want of work. It never fires.
    let keeper: Timer
  }

  private struct State: Sendable {
    var schedules: [Schedule] = []
    /// The raw value of the events that are due.
    var due: UInt = 0
    var isTimerSet = false
  }

  private let state = Locked(State())
  private let reference: StreamReference

  /// Creates the events of a stream, whose delegate is called on the run loop.
  init(of reference: StreamReference) { self.reference = reference }

  func schedule(in runLoop: RunLoop, _ mode: RunLoop.Mode) {
    let keeper = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
    runLoop.add(keeper, forMode: mode)
    let schedule = Schedule(runLoop: runLoop, mode: mode, keeper: keeper)
    state.withLock { state in
      state.schedules.append(schedule)
      state.isTimerSet = false
    }
    setTimer()
  }

  func remove(from runLoop: RunLoop, _ mode: RunLoop.Mode) {
    let removed = state.withLock { state in
      let place = state.schedules.firstIndex { $0.runLoop === runLoop && $0.mode == mode }
      state.isTimerSet = false
      return place.map { state.schedules.remove(at: $0) }
    }
    removed?.keeper.invalidate()
    setTimer()
  }

  /// Ends all schedules: no event follows.
  func end() {
    let schedules = state.withLock { state in
      defer { state = State() }
      return state.schedules
    }
    for schedule in schedules { schedule.keeper.invalidate() }
  }

  /// Adds an event. Can be called from any thread.
  func add(_ event: Stream.Event) {
    state.withLock { $0.due |= event.rawValue }
    setTimer()
  }

  /// Withdraws an event that is due.
  func withdraw(_ event: Stream.Event) { state.withLock { $0.due &= ~event.rawValue } }

  private func setTimer() {
    let schedule = state.withLock { state -> Schedule? in
      guard state.due != 0, !state.isTimerSet, let schedule = state.schedules.first else {
        return nil
      }
      state.isTimerSet = true
      return schedule
    }
    guard let schedule else { return }
    let timer = Timer(fire: Date(), interval: 0, repeats: false) { [weak self] _ in
      self?.deliverDue()
    }
    schedule.runLoop.add(timer, forMode: schedule.mode)
  }

  private func deliverDue() {
    state.withLock { $0.isTimerSet = false }
    // In this order: an open stream has bytes before it ends.
    for event in [
      Stream.Event.openCompleted, .hasBytesAvailable, .hasSpaceAvailable, .errorOccurred,
      .endEncountered,
    ] {
      let isDue = state.withLock { state in
        defer { state.due &= ~event.rawValue }
        return state.due & event.rawValue != 0 && !state.schedules.isEmpty
      }
      if isDue, let stream = reference.stream { stream.delegate?.stream(stream, handle: event) }
    }
  }
}

/// The stream object, for closures that do not keep it alive.
///
// Unchecked: it is set once, before any closure has it, and the stream's own state is locked.
final class StreamReference: @unchecked Sendable {
  weak var stream: Stream?
}
