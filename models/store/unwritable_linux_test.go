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

// reopen gives this process's descriptors of a file other rights to it: os.O_RDONLY as if its file system had become
// read-only after an error of the disk, os.O_RDWR as when it is mounted anew.
func reopen(t *testing.T, path string, rights int) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, file := range files {
		fd, err := strconv.Atoi(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if leads, err := os.Readlink(filepath.Join("/proc/self/fd", file.Name())); err != nil || leads != path {
			continue
		}
		found = true
		fresh, err := syscall.Open(path, rights|syscall.O_CLOEXEC, 0)
		if err == nil {
			err = errors.Join(syscall.Dup3(fresh, fd, syscall.O_CLOEXEC), syscall.Close(fresh))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !found {
		t.Fatal("nobody has the file open")
	}
}

// While a disk refuses to be written, statistics are not taken for written, so that they are kept, and requests are not
// taken for counted. Both are written once it allows it.
func TestUnwritableDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lottery.db")
	st := storetest.OpenURL(t, "sqlite:"+path, store.Options{})
	take := taking("acc_a", 1, 100)
	rows := []models.UsageDay{row("acc_a", march, "/v1/games", 2, 7)}
	if err := st.AddUsage(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	applyQuota(t, st, take)
	reopen(t, path+"-wal", os.O_RDONLY)
	for range 3 {
		err := st.AddUsage(t.Context(), rows)
		if models.ErrorCode(err) != models.CodeUnavailable || errors.Is(err, store.ErrUsageUnclear) || !strings.Contains(err.Error(), "became read-only") {
			t.Errorf("statistics: %v", err)
		}
		if _, _, err := st.ApplyQuota(t.Context(), []store.QuotaOp{take}); err == nil || errors.Is(err, store.ErrQuotaUnclear) {
			t.Errorf("a counter: %v", err)
		}
	}
	reopen(t, path+"-wal", os.O_RDWR)
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
