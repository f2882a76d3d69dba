import CaromCore
import CaromPlacement
import CaromTransport

/// Measures the load of a host once a second: that of the loop on which its session and its matches
/// run.
struct FleetLoadMeter {
  private static let interval = Duration.seconds(1)

  private var timer: LoopTimer?
  private var last = LoopLoad()
  private var lastTime = Instant.zero

  /// Calls `measure` once a second from now on.
  mutating func begin<Owner: Actor>(
    on loop: NetworkLoop, owner: isolated Owner,
    _ measure: @escaping @Sendable (isolated Owner) -> Void
  ) {
    (last, lastTime) = (loop.load, loop.now)
    timer = LoopTimer(on: loop, owner: owner, measure)
    timer?.arm(after: Self.interval)
  }

  mutating func end() { timer?.cancel() }

  /// Returns the load since the last call.
  mutating func next(_ load: LoopLoad, at now: Instant) -> HostLoad {
    defer {
      (last, lastTime) = (load, now)
      timer?.arm(after: Self.interval)
    }
    let ticks = load.ticks - last.ticks
    let late = load.lateTicks - last.lateTicks
    let time = lastTime.duration(to: now).wholeNanoseconds
    let used = (load.processorTime - last.processorTime).wholeNanoseconds
    return HostLoad(
      lateTicks: ticks == 0 ? 0 : Int(late * 1_000 / ticks),
      processor: time <= 0 ? 0 : Int(used * 1_000 / time))
  }
}
