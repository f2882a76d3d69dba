import CaromCore
import CaromSimulation
import CaromTransport

/// The ticks of a match, each delivered when it is due: `for await tick in match.ticks`. For each
/// element, simulate one tick with the match's `advance`. The sequence ends when the match is over
/// or the task is cancelled.
public struct MatchTicks: AsyncSequence {
  /// A tick that is due.
  public typealias Element = Tick

  /// What a match does next.
  enum Step {
    case simulate(Tick)
    case wait(until: Instant)
    case end
  }

  let loop: NetworkLoop
  let step: () -> Step

  /// An iterator over the ticks.
  public struct Iterator: AsyncIteratorProtocol {
    let loop: NetworkLoop
    let step: () -> Step

    /// Waits for the next tick. Returns nil when the match is over or the task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async -> Tick? {
      while !Task.isCancelled {
        switch step() {
        case .simulate(let tick): return tick
        case .end: return nil
        case .wait(let due):
          do throws(TransportError) {
            try await loop.sleep(until: due)
          } catch { return nil }
        }
      }
      return nil
    }

    /// Waits for the next tick. Returns nil when the match is over or the task is cancelled.
    public mutating func next() async -> Tick? { await next(isolation: #isolation) }
  }

  /// Creates an iterator over the ticks.
  public func makeAsyncIterator() -> Iterator { Iterator(loop: loop, step: step) }
}
