import ArgumentParser
import CaromFleet
import CaromPlacement
import CaromTransport
import CommandSupport

/// The options that all commands about a fleet have.
struct FleetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      The fleet: redis://HOST:PORT/NAME, or rediss://HOST:PORT/NAME with TLS; USER:PASSWORD@ may \
      stand before HOST.
      """,
      valueName: "address"))
  var fleet: String
  @OptionGroup var redis: RedisOptions
  @Flag(help: "Print one JSON object per line.") var json = false

  func validate() throws { try redis.check(fleet) }

  /// The address of the fleet, with what is in the files that the options name.
  func address() throws(CommandFailure) -> FleetAddress { try redis.address(of: fleet) }

  /// Runs `work` with the fleet's directory, which is closed when `work` has ended or is cancelled.
  /// Throws a failure if `limit` is reached and the command waits for an answer.
  func run(
    output: Output, for limit: Duration?, isWaiting: Bool = true,
    _ work: @escaping @Sendable (FleetDirectory) async throws -> Void
  ) async throws {
    let address = try address()
    let reason = try await CommandRunner.run(for: limit, output: output) {
      try await withNetworkLoop { loop throws in
        let directory = FleetDirectory(address, on: loop)
        let result = await withTaskCancellationHandler {
          await Self.result(of: work, directory)
        } onCancel: {
          Task { await directory.close() }
        }
        await directory.close()
        try result.get()
      }
    }
    if isWaiting, reason == .timedOut { throw CommandFailure(RedisError.timedOut) }
  }

  private static func result(
    of work: @Sendable (FleetDirectory) async throws -> Void, _ directory: FleetDirectory
  ) async -> Result<Void, any Error> {
    do { return .success(try await work(directory)) } catch { return .failure(error) }
  }
}
