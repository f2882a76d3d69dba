import ArgumentParser
import CaromCore
import CaromCrypto

/// The bytes by which a UDP proxy finds a host.
package struct RoutingOptions: ParsableArguments {
  @Option(
    name: .customLong("routing-prefix"),
    help: ArgumentHelp(
      "The bytes before each datagram by which a proxy finds the host: 1 to 32, as digits.",
      valueName: "hex"))
  private var prefix: String?
  @Option(
    name: .customLong("routing-suffix"),
    help: ArgumentHelp(
      "The bytes after each datagram by which a proxy finds the host: 1 to 32, as digits.",
      valueName: "hex"))
  private var suffix: String?

  package init() {}

  package func validate() throws { _ = try read() }

  /// The routing bytes; nil if the options name none.
  package var routing: DatagramRouting? { try? read() }

  private func read() throws(ValidationError) -> DatagramRouting? {
    guard let digits = prefix ?? suffix else { return nil }
    guard prefix == nil || suffix == nil else {
      throw ValidationError("--routing-prefix cannot be combined with --routing-suffix.")
    }
    let name = prefix == nil ? "--routing-suffix" : "--routing-prefix"
    guard let bytes = Hexadecimal.bytes(of: digits.utf8, count: digits.utf8.count / 2) else {
      throw ValidationError("\(name) must be two hexadecimal digits for each byte.")
    }
    do throws(DatagramRoutingError) {
      return prefix == nil ? try .suffix(bytes) : try .prefix(bytes)
    } catch { throw ValidationError("\(name): \(error).") }
  }
}
