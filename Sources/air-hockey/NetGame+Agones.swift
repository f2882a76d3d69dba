import Carom
import CaromFleet
import Foundation

extension AgonesSidecar {
  /// Returns the sidecar of this process; nil if Agones does not run it.
  static func ofProcess() throws(CommandFailure) -> AgonesSidecar? {
    do throws(AgonesPortError) {
      return try AgonesSidecar(environment: ProcessInfo.processInfo.environment)
    } catch { throw CommandFailure(.usage, error.description) }
  }
}

// A host that Agones runs: its sidecar hears of the table's life, its players and its matches.
extension NetGame {
  /// Begins to report this host, which has this number of seats, if Agones runs it.
  func report(_ session: Session, seats: Int) async -> AgonesReporter? {
    guard let sidecar = setup.agones else { return nil }
    let reporter = AgonesReporter(to: sidecar, seats: seats, on: loop) { [weak self] event in
      self?.assumeIsolated { $0.handle(event) }
    }
    await reporter.begin(session)
    return reporter
  }

  /// Reports whether there is a match at this table of a fleet.
  func reportMatches(to reporter: AgonesReporter?) {
    let count = fleet?.match == nil ? 0 : 1
    reporter?.assumeIsolated { $0.setMatches(count, capacity: 1) }
  }

  private func handle(_ event: AgonesReporter.Event) {
    guard !isOver else { return }
    switch event {
    case .away(let error): warn("\(error); the table stays open")
    case .back: warn("the sidecar of Agones is back")
    case .refused(let request, let status):
      warn(
        "the sidecar of Agones answers \(status) to \(request): does the manifest have it?")
    }
  }
}
