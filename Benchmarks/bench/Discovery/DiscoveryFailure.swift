/// The reason why a measurement could not be made, in one line.
struct DiscoveryFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
