package policy

import (
	"testing"
	"unsafe"
)

func TestEvidenceFitsIn256Bytes(t *testing.T) {
	if size := unsafe.Sizeof(Evidence{}); size > 256 {
		t.Errorf("%d bytes", size)
	}
	if n := catalogued().size(); n > maxModels {
		t.Errorf("%d models, room for %d", n, maxModels)
	}
	for i, m := range catalogued().models {
		var n string
		for _, p := range m.members {
			n += p.Name + " "
		}
		t.Log(i, m.family, n)
	}
}
