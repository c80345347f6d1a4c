module lottery

go 1.26.8
