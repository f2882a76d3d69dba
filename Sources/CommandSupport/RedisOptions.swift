import ArgumentParser
import CaromFleet
import CaromPlacement

/// The files with which a program reaches the Redis server of a fleet.
package struct RedisOptions: ParsableArguments {
  @Option(
    name: .customLong("password-file"),
    help: ArgumentHelp(
      "The file whose first line is the password of the fleet's Redis server.",
      valueName: "file"))
  private var passwordFile: String?
  @Option(
    name: .customLong("redis-ca"),
    help: ArgumentHelp(
      """
      For rediss://: the file with the authorities that may have issued the Redis server's \
      certificate. Default: those of the system.
      """, valueName: "file"))
  private var authorities: String?
  @Option(
    name: .customLong("redis-certificate"), parsing: .upToNextOption,
    help: ArgumentHelp(
      "For rediss://: the certificate by which the Redis server knows this program, and its key.",
      valueName: "cert> <key"))
  private var certificate: [String] = []

  package init() {}

  /// Throws if the options do not fit to the address of the fleet, or if there is none.
  package func check(_ fleet: String?) throws {
    guard let fleet else {
      if passwordFile != nil { throw ValidationError("--password-file needs --fleet ADDRESS.") }
      guard authorities == nil, certificate.isEmpty else {
        throw ValidationError("--redis-ca and --redis-certificate need --fleet ADDRESS.")
      }
      return
    }
    guard certificate.isEmpty || certificate.count == 2 else {
      throw ValidationError(
        "--redis-certificate needs two files, the certificate and its key.")
    }
    guard (authorities == nil && certificate.isEmpty) || fleet.hasPrefix("rediss://") else {
      throw ValidationError(
        "--redis-ca and --redis-certificate need an address that begins with rediss://.")
    }
  }

  /// Parses the address of a fleet, and reads the files.
  package func address(of fleet: String) throws(CommandFailure) -> FleetAddress {
    var address: FleetAddress
    do throws(FleetAddressError) { address = try FleetAddress(fleet) } catch {
      throw CommandFailure(.usage, error.description)
    }
    do throws(PasswordFileError) {
      if let passwordFile { try address.readPassword(from: passwordFile) }
    } catch { throw CommandFailure(.ioFailed, error.description) }
    if let authorities {
      do throws(TLSCertificateError) { try address.readAuthorities(from: authorities) } catch {
        throw CommandFailure(.ioFailed, "--redis-ca: \(error)")
      }
    }
    if certificate.count == 2 {
      do throws(TLSCertificateError) {
        try address.readCertificate(from: certificate[0], keyFile: certificate[1])
      } catch { throw CommandFailure(.ioFailed, "--redis-certificate: \(error)") }
    }
    return address
  }
}
