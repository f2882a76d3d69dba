import ArgumentParser
import Foundation

/// What rollback play costs and holds: each figure beside its goal.
struct RollbackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback",
    abstract: "Rollback, prediction, replay and the fixed step, each figure beside its goal.")

  @Option(help: "Minutes of the matches over bad lines, virtual time.")
  var minutes = 10

  @Option(help: "Seconds of the fixed step against the real clock.")
  var loopSeconds = 10

  @Option(help: "A JSON file of exact counts that must not be exceeded.")
  var thresholds: String?

  @Flag(help: "One JSON object on one line.")
  var json = false

  func validate() throws {
    guard minutes > 0, loopSeconds > 0 else {
      throw ValidationError("minutes and seconds are at least 1")
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
    let violations = try RollbackThresholds.read(thresholds).violations(by: run.counts)
    for violation in violations { print(violation) }
    if !violations.isEmpty { throw ExitCode.failure }
    print("exact counts: within the thresholds")
  }
}
