import Testing

/// Limits how many tests run at the same time. Their programs run in real time on the same cores;
/// with too many, packets are processed so late that peers time out.
struct Turns: SuiteTrait, TestTrait, TestScoping {
  /// With ten tests, about 40 programs run at the same time.
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
  /// Limits how many of these tests run at the same time.
  static var turns: Turns { Turns() }
}

/// A semaphore whose waiting tasks are resumed in order.
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
