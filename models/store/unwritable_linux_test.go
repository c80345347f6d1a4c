package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// makeUnwritable lets this process only read SQLite's log, as if its file system had become read-only after an error of
// the disk, until again is called.
func makeUnwritable(t *testing.T, log string) (again func()) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	kept := map[int]int{}
	for _, file := range files {
		fd, err := strconv.Atoi(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if leads, err := os.Readlink(filepath.Join("/proc/self/fd", file.Name())); err != nil || leads != log {
			continue
		}
		if kept[fd], err = syscall.Dup(fd); err != nil {
			t.Fatal(err)
		}
		readOnly, err := syscall.Open(log, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			err = errors.Join(syscall.Dup3(readOnly, fd, syscall.O_CLOEXEC), syscall.Close(readOnly))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(kept) == 0 {
		t.Fatal("nobody has the log open")
	}
	return func() {
		for fd, was := range kept {
			if err := errors.Join(syscall.Dup3(was, fd, syscall.O_CLOEXEC), syscall.Close(was)); err != nil {
				t.Error(err)
			}
		}
	}
}

// While a disk refuses to be written, statistics are not taken for written, so that they are kept, and requests are not
// taken for counted. Both are written once it allows it.
func TestUnwritableDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lottery.db")
	st := storetest.OpenURL(t, "sqlite:"+path, store.Options{})
	take := store.QuotaOp{Kind: store.QuotaTake, Key: "acc_a", Period: day, Need: 1, Limit: 100}
	rows := []models.UsageDay{row("acc_a", march, "/v1/games", 2, 7)}
	if err := st.AddUsage(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	applyQuota(t, st, take)
	again := makeUnwritable(t, path+"-wal")
	for range 3 {
		err := st.AddUsage(t.Context(), rows)
		if models.ErrorCode(err) != models.CodeUnavailable || errors.Is(err, store.ErrUsageUnclear) || !strings.Contains(err.Error(), "became read-only") {
			t.Errorf("statistics: %v", err)
		}
		if _, _, err := st.ApplyQuota(t.Context(), []store.QuotaOp{take}); err == nil || errors.Is(err, store.ErrQuotaUnclear) {
			t.Errorf("a counter: %v", err)
		}
	}
	again()
	if err := st.AddUsage(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	if days, err := st.UsageByDay(t.Context(), "acc_a", march, march); err != nil || len(days) != 1 || days[0].Requests != 14 {
		t.Errorf("statistics of 14 requests: %v, %v", days, err)
	}
	if got := applyQuota(t, st, take)[0]; got.Used != 2 {
		t.Errorf("a counter of 2 requests: %+v", got)
	}
}
