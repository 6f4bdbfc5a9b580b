package generate

import (
	"testing"

	"go.uber.org/goleak"
)

// Connectors start no goroutines, nor do the libraries beneath them as they are
// used here.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
