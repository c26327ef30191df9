package operator

// Doctor is what GET /operator/doctor reports.
type Doctor struct {
	Version string
	Config  []Setting
	Checks  []Check
}

// Setting is one effective configuration value; secrets come masked.
type Setting struct {
	Name   string
	Value  string
	Origin string // flag, env, file, default
}

// Check is the outcome of one self-examination.
type Check struct {
	Name   string
	OK     bool
	Detail string
}
