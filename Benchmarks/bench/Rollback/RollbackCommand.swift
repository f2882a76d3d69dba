import ArgumentParser
import Foundation

/// Measures the cost and correctness of rollback play, and compares each figure with its goal.
struct RollbackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Measures rollback, prediction, replay and the fixed step against their goals.")

  @Option(help: "Minutes of each match over a lossy link, in virtual time.")
  var minutes = 10

  @Option(help: "Seconds for which the fixed step runs against the real clock.")
  var loopSeconds = 10

  @Option(help: "Fail if a count exceeds its threshold in this JSON file.")
  var thresholds: String?

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  func validate() throws {
    guard minutes > 0, loopSeconds > 0 else {
      throw ValidationError("--minutes and --loop-seconds must be at least 1")
    }
  }

  func run() async throws {
    var machine = Machine()
    machine.sampleNoise()
    var run = RollbackRun(minutes: minutes, loopSeconds: loopSeconds)
    await run.run()
    machine.sampleNoise()
    var report = Report(title: "bench rollback: \(minutes) min matches on virtual time, one core")
    report.sessionGoals = run.goals
    report.remarks = run.remarks
    report.machine = machine.line
    report.print(json: json)
    guard let thresholds else { return }
    guard let limits = try? RollbackThresholds.read(thresholds) else {
      throw ValidationError("cannot read thresholds from \(thresholds): check the file's name")
    }
    let violations = limits.violations(by: run.counts)
    for violation in violations { print(violation) }
    if !violations.isEmpty { throw ExitCode.failure }
    print("exact counts: within the thresholds")
  }
}
