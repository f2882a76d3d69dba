import AirHockey
import CaromCore
import CaromSimulation

/// Plays a recording of a match, in which every third hash was written when it was made, and takes
/// hashes of the state. `Tests/determinism.sh` and `Tests/webassembly.sh` build it.
enum RecordedMatchHashes {
  /// The number of hashes.
  static let count = 6

  /// The hashes after each sixth of the recording. Throws where the match differs from it.
  static func play(_ recording: [UInt8]) throws(DecodeError) -> [UInt64] {
    var replay = try ReplayReader<Rink>(recording)
    var hashes: [UInt64] = []
    let length = replay.end.rawValue / UInt64(count)
    while try replay.step() {
      if replay.tick.rawValue.isMultiple(of: length) { hashes.append(replay.game.hash) }
    }
    return hashes
  }
}
