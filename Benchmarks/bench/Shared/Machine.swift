import Foundation

/// What a benchmark ran on, and how quiet it was.
struct Machine {
  /// Times of one fixed piece of work through the run, seconds.
  private var samples: [Double] = []

  /// Takes a fixed piece of work's time; once a round is enough.
  mutating func sampleNoise() {
    let start = ContinuousClock.now
    var state: UInt64 = 1
    for _ in 0..<2_000_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    }
    let seconds = (ContinuousClock.now - start).inSeconds
    // The result is used, so that the work is done.
    if state != 0 { samples.append(seconds) }
  }

  /// How far the slowest sample lies over the fastest, 0.1 meaning ten per cent.
  var noise: Double {
    guard let low = samples.min(), let high = samples.max(), low > 0 else { return 0 }
    return high / low - 1
  }

  /// One line: processor, cores, system, load and noise.
  var line: String {
    let load = Self.text("/proc/loadavg").split(separator: " ").first.map(String.init) ?? "?"
    let percent = Int((noise * 100).rounded())
    return "\(Self.processor), \(ProcessInfo.processInfo.activeProcessorCount) cores, "
      + "\(Self.system); load \(load); the same work varied by \(percent) % during the run"
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
  /// The duration in seconds with their fraction.
  var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
