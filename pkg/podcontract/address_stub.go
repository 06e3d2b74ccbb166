package podcontract

func AddressProblem(string) string { return "" }
