// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

module github.com/cocoonstack/vk-sandbox/hack/cluster

go 1.26.0

require (
	github.com/google/go-containerregistry v0.22.1
	golang.org/x/mod v0.43.0
	golang.org/x/sync v0.25.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
)
