import ArgumentParser
import CaromFleet
import CaromPlacement
import CaromTransport

/// The options that all commands about a fleet have.
struct FleetOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The fleet: redis://HOST:PORT/NAME; USER:PASSWORD@ may stand before HOST.",
      valueName: "address"))
  var fleet: String
  @Option(
    name: .customLong("password-file"),
    help: ArgumentHelp(
      "The file whose first line is the password of the Redis server.", valueName: "file"))
  var passwordFile: String?
  @Flag(help: "Print one JSON object per line.") var json = false

  /// The address of the fleet, with the password of the file if one is given.
  func address() throws -> FleetAddress {
    var address: FleetAddress
    do throws(FleetAddressError) { address = try FleetAddress(fleet) } catch {
      throw CommandFailure(.usage, error.description)
    }
    guard let passwordFile else { return address }
    do throws(PasswordFileError) { try address.readPassword(from: passwordFile) } catch {
      throw CommandFailure(.ioFailed, error.description)
    }
    return address
  }

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
