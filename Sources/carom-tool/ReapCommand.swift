import ArgumentParser
import CaromDiscovery

/// The `reap` command: removes services from a domain whose leases have ended.
struct ReapCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reap",
    abstract: "Remove services from a domain whose programs ended without removing them.",
    discussion: """
      A service is removed only if its lease has ended by the name server's clock. Services \
      without a lease are never removed.
      """)

  @OptionGroup var registration: RegistrationOptions
  @Option(help: "Make a pass every so many seconds; by default, one pass.") var every: Double?
  @Flag(help: "Print one JSON object per line.") var json = false

  func validate() throws {
    guard registration.key != nil else { throw ValidationError("--key needs a file.") }
    if let every, !(every >= 1 && every <= 1e9) {
      throw ValidationError("--every must be at least 1 second.")
    }
  }

  func run() async throws {
    guard let domain = try registration.registrationDomain() else { return }
    let output = Output(["NAME", "LEASED", "UNLEASED"], json: json, isTable: false)
    let every = every
    try await CommandRunner.run(output: output) {
      let reaper = DomainReaper(domain)
      repeat {
        do throws(DiscoveryError) {
          Self.report(try await reaper.reap(), to: output)
        } catch {
          // A server that cannot be reached now may be reached at the next pass.
          guard every != nil else { throw error }
          CaromCommand.printError("this pass has failed: \(error)")
        }
        if let every { try await Task.sleep(for: .seconds(every)) }
      } while every != nil
    }
  }

  private static func report(_ result: ReapResult, to output: Output) {
    for service in result.removed {
      output.emit(
        Report(
          .removed, service.fullName, cells: [service.fullName],
          [.init("name", .string(service.name)), .init("instance", .string(service.fullName))]))
    }
    output.emit(
      Report(
        .finished, "pass",
        cells: [
          "\(result.removed.count) removed", "\(result.leased) leased",
          "\(result.unleased) without a lease",
        ],
        [
          .init("removed", .number(result.removed.count)),
          .init("leased", .number(result.leased)), .init("unleased", .number(result.unleased)),
        ]))
  }
}
