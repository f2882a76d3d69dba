import AirHockeyTerminal
import FuzzSupport

/// No bytes trap the reader of a terminal's input.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var parser = InputParser()
  for byte in fuzzInput(data, count) { _ = parser.handle(byte) }
  _ = parser.handlePause()
  return 0
}
