import BenchProbe

/// Something that makes many steps at once.
protocol SteppedScene {
  /// Makes that many steps; returns the contacts in them.
  mutating func run(steps: Int) -> Int
}

/// A scene under measurement.
struct StepSubject {
  let name: String
  let steps: Int
  private var scene: any SteppedScene
  private var rates: [Double] = []
  private var contacts = 0
  /// Heap allocations in one round.
  private(set) var allocations: UInt64 = 0

  init(_ name: String, steps: Int, scene: any SteppedScene) {
    self.name = name
    self.steps = max(1, steps)
    self.scene = scene
    // Its buffers grow to their size.
    _ = self.scene.run(steps: max(60, self.steps / 4))
  }

  /// The last round's steps a second.
  var lastRate: Double { rates.last ?? .nan }

  /// Counts a round's allocations. The probe counts the whole process, so nothing else may run:
  /// do it before the first child process, whose watcher allocates.
  mutating func countAllocations() {
    let before = bench_allocations()
    _ = scene.run(steps: steps)
    allocations = bench_allocations() - before
  }

  mutating func measure() {
    let start = bench_thread_cpu_nanoseconds()
    contacts += scene.run(steps: steps)
    let nanoseconds = bench_thread_cpu_nanoseconds() - start
    rates.append(Double(steps) / Double(nanoseconds) * 1e9)
  }

  func add(to report: inout Report) {
    let total = Double(steps * rates.count)
    report.add(
      name, .init("steps/s", median(rates)), .init("contacts/step", Double(contacts) / total),
      .init("allocations/step", Double(allocations) / Double(steps)))
  }
}
