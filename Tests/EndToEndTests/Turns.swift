import Testing

/// Lets a few tests run at a time: their programs have to keep time, and share the machine's
/// cores. Beyond that, what a program needs in a second comes late, and it is taken for lost.
struct Turns: SuiteTrait, TestTrait, TestScoping {
  /// With two cores some 40 programs run then.
  private static let gate = TurnGate(places: 10)

  let isRecursive = true

  @concurrent func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await Self.gate.enter()
    do {
      try await function()
      await Self.gate.leave()
    } catch {
      await Self.gate.leave()
      throw error
    }
  }
}

extension Trait where Self == Turns {
  /// Waits for a place among the tests whose programs run.
  static var turns: Turns { Turns() }
}

/// A number of places; whoever finds none waits in line.
private actor TurnGate {
  private var places: Int
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(places: Int) { self.places = places }

  func enter() async {
    guard places == 0 else { return places -= 1 }
    await withCheckedContinuation { waiters.append($0) }
  }

  func leave() {
    guard waiters.isEmpty else { return waiters.removeFirst().resume() }
    places += 1
  }
}
