import Foundation

/// A description of the machine that ran a benchmark, with an estimate of how much other work
/// disturbed the run.
struct Machine {
  /// The times of the same fixed computation, taken during the run, in seconds.
  private var samples: [Double] = []

  /// The load average of the last minute when the benchmark began, or nil if the system has none.
  private let initialLoad = Self.load

  /// The largest `noise` of a machine whose times mean anything.
  private static let noiseLimit = 0.25

  /// Times a fixed computation and records the result. One sample in each round is enough.
  mutating func sampleNoise() {
    let start = ContinuousClock.now
    var state: UInt64 = 1
    for _ in 0..<2_000_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    }
    let seconds = (ContinuousClock.now - start).inSeconds
    // Using the result keeps the compiler from removing the computation.
    if state != 0 { samples.append(seconds) }
  }

  /// The ratio of the slowest sample to the fastest, minus 1. A value of 0.1 means that the slowest
  /// took ten percent longer.
  var noise: Double {
    guard let low = samples.min(), let high = samples.max(), low > 0 else { return 0 }
    return high / low - 1
  }

  /// A warning if the machine did other work before or during the benchmark, which its times then
  /// contain; nil if it was idle enough.
  var busyRemark: String? {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    var signs: [String] = []
    if let load = initialLoad, load > Double(cores) / 2 {
      signs.append("its load was \(load) on \(cores) cores when the benchmark began")
    }
    if noise > Self.noiseLimit {
      signs.append("the time of a fixed computation varied by \(Int((noise * 100).rounded())) %")
    }
    if signs.isEmpty { return nil }
    return "this machine was too busy to measure times: \(signs.joined(separator: ", and ")); "
      + "end the other work and run again"
  }

  /// A line that names the processor, the number of cores, the operating system, the load and the
  /// noise.
  var line: String {
    let load = Self.load.map { "\($0)" } ?? "?"
    let percent = Int((noise * 100).rounded())
    return "\(Self.processor), \(ProcessInfo.processInfo.activeProcessorCount) cores, "
      + "\(Self.system); load \(load); the time of a fixed computation varied by \(percent) %"
  }

  private static var load: Double? {
    text("/proc/loadavg").split(separator: " ").first.flatMap { Double($0) }
  }

  private static var processor: String {
    let lines = text("/proc/cpuinfo").split(separator: "\n")
    let model = lines.first { $0.hasPrefix("model name") || $0.hasPrefix("Processor") }
    return model?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces) ?? "unknown CPU"
  }

  private static var system: String {
    let kernel = text("/proc/sys/kernel/osrelease").trimmingCharacters(in: .whitespacesAndNewlines)
    return "\(ProcessInfo.processInfo.operatingSystemVersionString) \(kernel)"
  }

  private static func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }
}

extension Duration {
  /// The duration in seconds, including the fraction.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
