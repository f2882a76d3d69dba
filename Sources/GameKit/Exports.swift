// Apple's module re-exports Foundation, and sources rely on that.
@_exported import Foundation
