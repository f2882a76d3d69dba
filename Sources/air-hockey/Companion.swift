import AirHockey
import Carom
import Foundation
import Synchronization

/// A computer opponent in a separate process. It joins over the network like any player, and yields
/// its seat to the first person who joins.
final class Companion: Sendable {
  private let strength: Strength
  private let transport: Transport
  private let policy: SessionSecurity.Policy
  private let process = Mutex<Process?>(nil)

  init(strength: Strength, transport: Transport, policy: SessionSecurity.Policy) {
    self.policy = policy
    self.strength = strength
    self.transport = transport
  }

  /// Starts the process, unless it is running. The process exits when it loses its seat.
  func start(port: UInt16) {
    process.withLock { process in
      if let process, process.isRunning { return }
      let companion = Process()
      companion.executableURL = .ownProgram
      companion.arguments = [
        "join", "127.0.0.1:\(port)", "--bot", "--headless", "--yield", "--name", "Computer",
        "--strength", "\(strength)", "--transport", transport.rawValue, "--reconnect", "0",
        "--security", policy.rawValue,
      ]
      companion.standardInput = FileHandle.nullDevice
      companion.standardOutput = FileHandle.nullDevice
      companion.standardError = FileHandle.nullDevice
      do {
        try companion.run()
        process = companion
      } catch {
        process = nil
      }
    }
  }

  /// Terminates the process if it is running.
  func stop() {
    process.withLock { process in
      if let process, process.isRunning { process.terminate() }
      process = nil
    }
  }
}
