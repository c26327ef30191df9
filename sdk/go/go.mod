module orgmem/sdk/go

go 1.24
