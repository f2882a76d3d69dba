import AirHockeyTerminal
import FuzzSupport

/// Checks that the parser of terminal input never traps.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var parser = InputParser()
  for byte in fuzzInput(data, count) { _ = parser.handle(byte) }
  _ = parser.handlePause()
  return 0
}
