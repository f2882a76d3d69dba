import AirHockey
import ArgumentParser
import BenchProbe
import CaromPhysics
import Foundation

/// Measures the steps a second of the physics, compared with Box2D in the same scene, and the heap
/// allocations of each step.
struct StepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "step",
    abstract: "Measures physics steps a second against Box2D; a step must not allocate.")

  @Option(help: "Rounds, in each of which every scene runs once; medians are reported.")
  var rounds = 7

  @Option(help: "Hockey steps in each round.")
  var steps = 60_000

  @Flag(help: "Print one JSON object on one line.")
  var json = false

  @Flag(help: "Measure Carom alone, without Box2D.")
  var withoutPeer = false

  func validate() throws {
    guard rounds > 0, steps > 0 else {
      throw ValidationError("--rounds and --steps must be at least 1")
    }
  }

  func run() throws {
    var machine = Machine()
    var subjects = makeSubjects()
    for index in subjects.indices { subjects[index].countAllocations() }
    let peer = withoutPeer ? nil : Box2DPeer.built()
    var ratios: [Double] = []
    var peerRates: [String: [Double]] = [:]
    for round in 1...rounds {
      progress("round \(round) of \(rounds)")
      machine.sampleNoise()
      for index in subjects.indices { subjects[index].measure() }
      guard let peer else { continue }
      for scene in ["hockey", "gas-100", "gas-1000"] {
        guard let rate = peer.rate(scene, steps: scene == "hockey" ? steps : 0) else { continue }
        peerRates[scene, default: []].append(rate)
        if scene == "hockey" { ratios.append(subjects[0].lastRate / rate) }
      }
    }
    var report = Report(title: "bench step: dt 1/60 s, one core, medians of \(rounds) rounds")
    for subject in subjects { subject.add(to: &report) }
    for (scene, rates) in peerRates.sorted(by: { $0.key < $1.key }) {
      report.add("Box2D 2.4, \(scene)", .init("steps/s", median(rates)))
    }
    if ratios.isEmpty {
      report.remarks.append(
        "Box2D was not measured, because its peer did not build: \(Box2DPeer.remedy)")
    } else {
      report.add("hockey against Box2D", .init("times", median(ratios)))
    }
    let leaks = subjects.filter { $0.allocations > 0 }
    for leak in leaks {
      report.remarks.append(
        "\(leak.name) allocates on the heap, which a step must not do: "
          + "find the allocation with a profiler"
      )
    }
    report.machine = machine.line
    report.print(json: json)
    if !leaks.isEmpty { throw ExitCode.failure }
  }

  private func makeSubjects() -> [StepSubject] {
    var subjects = [
      StepSubject("hockey: puck and two mallets", steps: steps, scene: HockeyScene()),
      StepSubject("air-hockey match with its rules", steps: steps / 2, scene: MatchScene()),
    ]
    for (count, steps) in [(100, 2_000), (1_000, 200), (10_000, 20)] {
      subjects.append(
        StepSubject(
          "gas of \(Report.text(Double(count))) discs", steps: steps, scene: GasScene(count: count))
      )
    }
    return subjects
  }
}
