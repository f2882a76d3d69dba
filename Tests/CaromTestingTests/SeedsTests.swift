import CaromTesting
import Testing

@Suite struct SeedsTests {
  @Test func `seeds are consecutive numbers`() {
    #expect(Array(Seeds(3)) == [0, 1, 2])
    #expect(Array(Seeds(2, from: 10)) == [10, 11])
  }

  @Test func `a seed to replay replaces all others`() {
    #expect(Array(Seeds(3, replay: "77")) == [77])
    #expect(Array(Seeds(3, replay: nil)) == [0, 1, 2])
    #expect(Array(Seeds(3, replay: "what")) == [0, 1, 2])
  }

  @Test func `the error names the first seed that fails`() {
    let failure = SeedFailure(seed: 2, reason: "Odd()")
    #expect(throws: failure) {
      try Seeds(10).check { seed in if seed == 2 { throw Odd() } }
    }
    #expect(failure.description == "CAROM_SEED=2 reproduces this failure: Odd()")
  }

  @Test func `an async body runs for one seed after another`() async throws {
    var seeds: [UInt64] = []
    try await Seeds(3).check { seed in
      await Task.yield()
      seeds.append(seed)
    }
    #expect(seeds == [0, 1, 2])
    await #expect(throws: SeedFailure(seed: 1, reason: "Odd()")) {
      try await Seeds(3).check { seed in
        await Task.yield()
        if seed == 1 { throw Odd() }
      }
    }
  }

  private struct Odd: Error {}
}
