import CaromCore
import Testing

@testable import CaromSimulation

@Suite struct PredictionBlendTests {
  @Test func `a correction up to the given distance is blended, a longer one is drawn at once`() {
    for (jump, offset) in [(5, (3, 4)), (4.99, (0, 0)), (1, (0, 0)), (.infinity, (3, 4))]
      as [(Double, (Double, Double))]
    {
      var blend = PredictionBlend(jump: jump)
      blend.correct(from: (10, 20), to: (7, 16), at: .zero + .seconds(1))
      #expect(blend.offset(at: .zero + .seconds(1)) == offset)
    }
    var short = PredictionBlend(jump: 0.5)
    short.correct(from: (0.375, 0), to: (0, 0), at: .zero)
    #expect(short.offset(at: .zero) == (0.375, 0))
    short.correct(from: (0, 0.6), to: (0, 0), at: .zero)
    #expect(short.offset(at: .zero) == (0, 0))
  }

  @Test func `the blend begins and ends smoothly, and is over after exactly 100 ms`() {
    var blend = PredictionBlend()
    #expect(blend.offset(at: .zero) == (0, 0))
    let start = Instant.zero + .seconds(3)
    blend.correct(from: (64, -32), to: (0, 0), at: start)
    for (milliseconds, share) in [(-5, 1), (0, 1), (25, 27.0 / 32), (50, 0.5), (75, 5.0 / 32)] {
      let offset = blend.offset(at: start + .milliseconds(milliseconds))
      #expect(offset == (64 * share, -32 * share))
    }
    #expect(blend.offset(at: start + .nanoseconds(99_000_000)).x > 0)
    #expect(blend.offset(at: start + .milliseconds(100)) == (0, 0))
    #expect(blend.offset(at: start + .seconds(9)) == (0, 0))
  }

  @Test func `a correction after the end of a blend begins a new one`() {
    var blend = PredictionBlend()
    blend.correct(from: (8, 0), to: (0, 0), at: .zero)
    let later = Instant.zero + .milliseconds(200)
    blend.correct(from: (0, 2), to: (0, 0), at: later)
    #expect(blend.offset(at: later) == (0, 2))
    #expect(blend.offset(at: later + .milliseconds(50)) == (0, 1))
  }

  @Test func `a correction during a blend continues from the drawn position`() {
    var blend = PredictionBlend()
    blend.correct(from: (1, 2), to: (0, 0), at: .zero)
    let now = Instant.zero + .milliseconds(50)
    #expect(blend.offset(at: now) == (0.5, 1))
    blend.correct(from: (0, 0), to: (0.25, -0.5), at: now)
    #expect(blend.offset(at: now) == (0.25, 1.5))
  }
}
