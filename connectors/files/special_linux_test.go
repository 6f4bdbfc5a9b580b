package files

import (
	"context"
	"strings"
	"testing"
)

func TestAFileThatHidesItsSizeIsRefused(t *testing.T) {
	splits, err := Lines("/proc/self/status").Splits(context.Background())
	if err == nil || !strings.Contains(err.Error(), "says that it is empty") {
		t.Errorf("splits %v, error %v", splits, err)
	}
}
