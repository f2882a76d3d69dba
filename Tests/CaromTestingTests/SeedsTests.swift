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

  private struct Odd: Error {}
}
