import AirHockey
import AirHockeyTerminal
import CaromCore
import CaromPhysics

/// Nobody looks on.
struct SilentFace: GameFace {
  func commands(at now: Instant) -> [Controls.Command] { [] }
  func sampleFirst(mallet: Vector, at now: Instant) -> MalletInput? { nil }
  func sampleSecond(mallet: Vector, at now: Instant) -> MalletInput? { nil }
  func present(_ view: TableView) {}
  func tell(_ line: String) {}
  func close() {}
}
