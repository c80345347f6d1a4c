package admin_test

import (
	"testing"

	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
