package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// Texts come back unchanged, wherever they are stored.
func TestTextStore(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	letters := []byte(strings.Repeat("0123456789abcdef", 5000))
	var s textStore
	var places []uint64
	text := func(i int) []byte {
		if i%1000 == 7 {
			return letters[:70_000]
		}
		return fmt.Appendf(nil, "%d %s", i, letters[i%16:i%16+i%1900])
	}
	const texts = 45_000 // some 45 MiB
	check := func(i int) {
		if got := s.text(places[i]); !bytes.Equal(got, text(i)) {
			t.Fatalf("text %d of %d is %.30q", i, len(places), got)
		}
	}
	for i := range texts {
		places = append(places, s.add(text(i)))
		check(rng.IntN(len(places)))
	}
	if s.spilled == nil || s.filled <= mostPieces {
		t.Fatal("nothing was spilled")
	}
	for range texts {
		check(rng.IntN(len(places)))
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}

// If add-ons cannot be stored, nothing is imported.
func TestAddonsThatCannotBeKept(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	st := storetest.OpenURL(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"), store.Options{})
	var rows bytes.Buffer
	rows.WriteString("game,date,tod,sequence,number,note\n")
	const days, sequences = 2000, 90
	for day := range models.Date(days) {
		for sequence := 1; sequence <= sequences; sequence++ {
			fmt.Fprintf(&rows, "ny-numbers,%s,Midday,%d,123,%s %d %d\n", models.NewDate(2000, 1, 1)+day, sequence, strings.Repeat("x", 160), day, sequence)
		}
	}
	source := Source{Name: "f", Size: -1, Open: func(context.Context) (io.ReadCloser, error) { return io.NopCloser(&rows), nil }}
	result, err := Run(t.Context(), st, []Source{source}, Options{Feed: models.FeedCSV})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "add-ons") {
		t.Errorf("%+v %v", result, err)
	}
	if rows.Len() == 0 { // comparing texts that cannot be read takes many times as long as the import
		t.Error("the file was read to its end")
	}
	err = st.StoredDraws(t.Context(), "ny-numbers", models.FirstDate, models.LastDate, func(*models.Draw) error { return errors.New("a draw is left") })
	if err != nil {
		t.Error(err)
	}
}
