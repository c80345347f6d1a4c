package importer_test

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
)

// heard is what the readers below extract from a published file, with only the standard library and regular
// expressions: draws by slot, and faults by reason.
type heard struct {
	draws map[string][]string // "game date tod #sequence" → numbers, a line each
	wrong map[models.Reason]int
}

func (h *heard) add(game string, date time.Time, tod string, sequence int, number string) {
	slot := fmt.Sprintf("%s %s %s #%d", game, date.Format(time.DateOnly), tod, sequence)
	h.draws[slot] = append(h.draws[slot], number)
}

// settle removes the slots for which there are different numbers.
func (h *heard) settle() (draws []string) {
	for slot, numbers := range h.draws {
		slices.Sort(numbers)
		if distinct := slices.Compact(slices.Clone(numbers)); len(distinct) > 1 {
			h.wrong[models.ReasonConflict] += len(numbers)
			continue
		}
		draws = append(draws, slot+" "+numbers[0])
	}
	slices.Sort(draws)
	return draws
}

// TestRealFiles imports what the lotteries published and compares it with an independent reading of the same files.
// LOTTERY_REAL_DRAWS names their folder, relative to the module's.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("LOTTERY_REAL_DRAWS")
	if folder == "" {
		t.Skip("set LOTTERY_REAL_DRAWS to the folder of published files")
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join("..", "..", folder)
	}
	for _, lottery := range []struct {
		feed, files string
		listen      func(t *testing.T, h *heard, content string)
		wrong       map[models.Reason]int // in all its files together
	}{
		{models.FeedNYOpenData, "new-york/*.csv", listenNewYork, map[models.Reason]int{models.ReasonSumMismatch: 4, models.ReasonConflict: 4}},
		{models.FeedNC, "north-carolina/*.csv", listenNorthCarolina, map[models.Reason]int{models.ReasonBadTod: 4}},
		{models.FeedVirginia, "virginia/*.txt", listenVirginia, map[models.Reason]int{models.ReasonConflict: 4}},
		{models.FeedTexas, "texas/*.csv", listenTexas, map[models.Reason]int{}},
	} {
		t.Run(lottery.feed, func(t *testing.T) {
			t.Parallel()
			paths, err := filepath.Glob(filepath.Join(folder, lottery.files))
			if err != nil || len(paths) == 0 {
				t.Fatalf("no files at %s: %v", filepath.Join(folder, lottery.files), err)
			}
			wrong := map[models.Reason]int{}
			for _, path := range paths {
				for reason, n := range realFile(t, lottery.feed, path, lottery.listen) {
					wrong[reason] += n
				}
			}
			if !maps.Equal(wrong, lottery.wrong) {
				t.Errorf("rejected %v, known is %v", wrong, lottery.wrong)
			}
		})
	}
}

func realFile(t *testing.T, feed, path string, listen func(t *testing.T, h *heard, content string)) map[models.Reason]int {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &heard{map[string][]string{}, map[models.Reason]int{}}
	listen(t, h, string(content))
	want := h.settle()

	b := newBench(t)
	b.now = time.Date(2025, time.December, 1, 0, 0, 0, 0, time.UTC)
	result, _ := b.run(importer.Options{Feed: feed}, text(filepath.Base(path), string(content)))
	var got []string
	for _, line := range b.draws() {
		got = append(got, strings.Join(strings.Fields(line)[:5], " "))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%s: %d draws, an independent reading has %d", path, len(got), len(want))
	}
	if !maps.Equal(result.Summary.Rejections, h.wrong) {
		t.Errorf("%s: rejected %v, an independent reading %v", path, result.Summary.Rejections, h.wrong)
	}
	if len(result.Summary.SkippedLines) > 0 {
		t.Errorf("%s: lines that may be draws were skipped: %+v", path, result.Summary.SkippedLines)
	}
	again, _ := b.run(importer.Options{Feed: feed}, text(filepath.Base(path), string(content)))
	if again.Summary.Unchanged != len(want) || again.Summary.Inserted+again.Summary.Corrected > 0 {
		t.Errorf("%s: the second time: %s", path, counts(again.Summary))
	}
	return h.wrong
}

func records(t *testing.T, content string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(content))
	r.FieldsPerRecord = -1
	var all [][]string
	for {
		record, err := r.Read()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record)
	}
}

func usDate(t *testing.T, s string) time.Time {
	t.Helper()
	date, err := time.Parse("1/2/2006", s)
	if err != nil {
		t.Fatal(err)
	}
	return date
}

func listenNewYork(t *testing.T, h *heard, content string) {
	t.Helper()
	for _, record := range records(t, content)[1:] {
		for i, game := range []string{"ny-numbers", "ny-numbers", "ny-win-4", "ny-win-4"} {
			number, sum := strings.TrimSpace(record[1+2*i]), strings.TrimSpace(record[2+2*i])
			if number == "" {
				continue
			}
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(err)
			}
			number = fmt.Sprintf("%0*d", 3+i/2, n)
			if sum != "" {
				left, err := strconv.Atoi(sum)
				if err != nil {
					t.Fatal(err)
				}
				for ; n > 0; n /= 10 {
					left -= n % 10
				}
				if left != 0 {
					h.wrong[models.ReasonSumMismatch]++
					continue
				}
			}
			h.add(game, usDate(t, record[0]), []string{"Midday", "Evening"}[i%2], 1, number)
		}
	}
}

func listenNorthCarolina(t *testing.T, h *heard, content string) {
	t.Helper()
	all := records(t, content)
	balls := 0
	for _, name := range all[0] {
		if strings.HasPrefix(name, "Ball ") {
			balls++
		}
	}
	for _, record := range all[1:] {
		if len(record) == 1 {
			continue
		}
		tod := map[string]string{"D": "Day", "E": "Evening"}[record[1]]
		if tod == "" {
			h.wrong[models.ReasonBadTod]++
			continue
		}
		sequence := 1
		if balls == 3 && record[len(record)-1] == "D" {
			sequence = 2
		}
		h.add(fmt.Sprintf("nc-pick-%d", balls), usDate(t, record[0]), tod, sequence, strings.Join(record[2:2+balls], ""))
	}
}

func listenVirginia(t *testing.T, h *heard, content string) {
	t.Helper()
	game := "va-" + strings.ReplaceAll(strings.ToLower(regexp.MustCompile(`Pick \d`).FindString(content)), " ", "-")
	dated := regexp.MustCompile(`(?m)^\d+/\d+/\d{4}`)
	drawn := regexp.MustCompile(`(Day|Night): ([0-9,]+)`)
	for line := range strings.Lines(content) {
		date := dated.FindString(line)
		for _, m := range drawn.FindAllStringSubmatch(line, -1) {
			h.add(game, usDate(t, date), m[1], 1, strings.ReplaceAll(m[2], ",", ""))
		}
	}
}

func listenTexas(t *testing.T, h *heard, content string) {
	t.Helper()
	line := regexp.MustCompile(`(?m)^(Pick|Daily) ([34]) (\w+),(\d+),(\d+),(\d{4}),(.*?)\r?$`)
	for _, m := range line.FindAllStringSubmatch(content, -1) {
		digits, _ := strconv.Atoi(m[2])
		h.add(fmt.Sprintf("tx-%s-%s", strings.ToLower(m[1]), m[2]), usDate(t, m[4]+"/"+m[5]+"/"+m[6]), m[3], 1,
			strings.Join(strings.Split(m[7], ",")[:digits], ""))
	}
}
