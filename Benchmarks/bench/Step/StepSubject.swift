import BenchProbe

/// A scene that can be stepped many times in one call.
protocol SteppedScene {
  /// Makes `steps` steps and returns the number of contacts in them.
  mutating func run(steps: Int) -> Int
}

/// A scene with its measurements.
struct StepSubject {
  let name: String
  let steps: Int
  private var scene: any SteppedScene
  private var rates: [Double] = []
  private var contacts = 0
  /// The heap allocations of one round.
  private(set) var allocations: UInt64 = 0

  init(_ name: String, steps: Int, scene: any SteppedScene) {
    self.name = name
    self.steps = max(1, steps)
    self.scene = scene
    // Lets the scene's buffers grow to their final size.
    _ = self.scene.run(steps: max(60, self.steps / 4))
  }

  /// The steps a second of the last round.
  var lastRate: Double { rates.last ?? .nan }

  /// Counts the heap allocations of one round. The probe counts the whole process, so this must run
  /// before the first child process is started, because the thread that watches a child allocates.
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
