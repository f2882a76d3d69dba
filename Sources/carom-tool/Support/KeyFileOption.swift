import ArgumentParser
import CaromCrypto
import CaromSession

/// The option that names the file of the backend's key.
struct KeyFileOption: ParsableArguments {
  @Option(name: .customLong("key"), help: "The file of the backend's key; see carom token key.")
  var file: String?

  /// The path of the file, for messages.
  var path: String { file ?? "" }

  /// Reads the key. Returns nil if no file is given. The file must not be readable by other users.
  func key() throws -> BackendKey? {
    guard let file else { return nil }
    do throws(BackendKeyFileError) {
      return try BackendKeyFile(path: file).load()
    } catch {
      throw CommandFailure(.ioFailed, error.description)
    }
  }
}
