import CaromCore
import Testing

@Suite struct SeededGeneratorTests {
  @Test func `the generator produces the sequence of SplitMix64`() {
    var generator = SeededGenerator(seed: 1_234_567)
    let first = (0..<5).map { _ in generator.next() }
    #expect(
      first == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
        4_593_380_528_125_082_431, 16_408_922_859_458_223_821,
      ])
  }

  @Test func `a copy of a generator continues the same sequence`() {
    var generator = SeededGenerator(seed: 3)
    _ = generator.next()
    var copy = generator
    #expect(copy == generator)
    #expect(copy.next() == generator.next())
  }

  @Test func `a split generator has a different sequence`() {
    var generator = SeededGenerator(seed: 3)
    var part = generator.split()
    var again = SeededGenerator(seed: 3)
    var same = again.split()
    #expect(part.next() == same.next())
    #expect(generator.next() != part.next())
  }

  @Test func `random durations stay in their range and reach its bounds`() {
    var generator = SeededGenerator(seed: 4)
    let range: ClosedRange<Duration> = .nanoseconds(-2) ... .nanoseconds(2)
    let drawn = Set((0..<500).map { _ in generator.duration(in: range) })
    #expect(drawn == Set((-2...2).map { .nanoseconds($0) }))
    #expect(generator.duration(in: .seconds(1) ... .seconds(1)) == .seconds(1))
  }

  @Test func `random events have the given probability`() {
    var generator = SeededGenerator(seed: 5)
    let hits = (0..<10_000).filter { _ in generator.chance(0.25) }.count
    #expect((2_350...2_650).contains(hits))
    for _ in 0..<1_000 {
      let drawn = [1, 0, -1, .nan].map { generator.chance($0) }
      #expect(drawn == [true, false, false, false])
    }
  }
}
