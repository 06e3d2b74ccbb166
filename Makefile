# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# Hosts of the local cluster, from 1 to 9.
HOSTS ?= 1
# The cluster's type: "local" (a real Kubernetes from its own modules) or "kind".
export CLUSTER ?= local
export VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := '-s -w -X main.version=$(VERSION)'
# FAIL_ON_SKIP=1 makes a skipped test a failure, as in .ci/run.
export FAIL_ON_SKIP ?=

# A static program runs in an image without other files. Without paths and checkout state
# the build is reproducible. All builds use the same settings, so that they share one build
# cache; only the race detector needs its own.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -buildvcs=false)

##@ Demo

.PHONY: demo
demo: ## Demonstrate vk-sandbox on a real cluster, step by step; the cluster stays up
	@hack/demo.sh

.PHONY: demo-down
demo-down: cluster-down ## End the demo's cluster

##@ Build

.PHONY: build
build: ## Build the programs into bin/
	@mkdir -p bin
	@go build -ldflags $(LDFLAGS) -o bin/ ./cmd/vk-sandbox ./cmd/sandboxd-sim ./hack/simhistory
	@go build -C hack/cluster -o ../../bin/cluster .

# The daemon alone.
.PHONY: bin/vk-sandbox
bin/vk-sandbox:
	@mkdir -p bin
	@go build -ldflags $(LDFLAGS) -o $@ ./cmd/vk-sandbox

.PHONY: images
images: build ## Build the daemon's image and load it into every host of the cluster
	@hack/load-image.sh

.PHONY: generate
generate: ## Generate code and CRDs from pkg/apis, docs/metrics.md and docs/configuration.md
	@hack/update-codegen.sh

##@ Test

# The unit tests use the processor; the other tests mostly wait.
.PHONY: test
test: ## Run all tests: the unit tests, and in parallel the crash, chart, packaging and end-to-end tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-unit test-in-turn

.PHONY: test-in-turn
test-in-turn:
	@for part in crash chart packaging e2e; do $(MAKE) --no-print-directory "test-$${part}"; done

.PHONY: test-unit
test-unit: ## Run the tests of every module with the race detector, except the tests below
	@hack/test-unit.sh

.PHONY: test-chart
test-chart: ## Run the chart's tests
	@hack/test-chart.sh

.PHONY: test-packaging
test-packaging: bin/vk-sandbox ## Build the image, packages and SBOM, and start the systemd unit
	@hack/test-packaging.sh

.PHONY: test-reproducible
test-reproducible: ## Build the daemon twice from scratch and compare the programs
	@hack/test-reproducible.sh

.PHONY: test-e2e
test-e2e: build ## Run the end-to-end tests on a new cluster; KEEP_CLUSTER=1 uses a running one and keeps it
	@hack/test-e2e.sh

.PHONY: e2e
e2e: test-e2e ## Short name of test-e2e, as in: make e2e CLUSTER=kind

.PHONY: conformance
conformance: build ## Run agent-sandbox's own end-to-end tests on a new cluster and print a table; KEEP_CLUSTER=1 as in test-e2e
	@hack/conformance.sh

.PHONY: test-crash
test-crash: build ## Kill the real daemon 100 times under load and check the state that it leaves
	@hack/go-test.sh -count=1 -timeout=20m ./test/crash -binary=$(CURDIR)/bin/vk-sandbox

.PHONY: soak
soak: build ## Play new random histories and kill the real daemon for SOAK=30m or until a failure
	@hack/soak.sh

.PHONY: bench
bench: build ## Compare the daemon with KWOK and the targets in a table; hack/bench.sh lists the variables
	@hack/bench.sh

.PHONY: bench-smoke
bench-smoke: build ## Run every measurement of the bench once with small numbers
	@hack/bench.sh --smoke

.PHONY: bench-micro
bench-micro: ## Run the packages' benchmarks into bin/bench-micro.txt; BENCH_BASE=FILE compares with an earlier run
	@hack/bench-micro.sh

.PHONY: verify
verify: ## Check formatting, vet, linters, generated files, modules, licence headers and scripts
	@hack/verify.sh

##@ Release

.PHONY: release
release: ## Publish the programs, packages, SBOMs and image of the checked-out tag
	@hack/release.sh

.PHONY: release-snapshot
release-snapshot: ## Build the parts of a release except the image into dist/
	@hack/release.sh --snapshot

.PHONY: release-check
release-check: ## Check the release's configuration with goreleaser, and that the base images have digests
	@hack/release.sh --check

.PHONY: update-base-images
update-base-images: ## Pin the base images to the current digests of their tags
	@hack/update-base-images.sh

##@ Cluster

.PHONY: cluster-up
cluster-up: build ## Start a real Kubernetes with agent-sandbox and HOSTS=n hosts, each with a simulated sandboxd
	@HOSTS=$(HOSTS) hack/cluster-up.sh

.PHONY: cluster-down
cluster-down: bin/cluster ## End the cluster and undo its changes to the machine
	@bin/cluster down

.PHONY: cluster-status
cluster-status: bin/cluster ## Show the cluster's components and hosts
	@bin/cluster status

bin/cluster:
	@mkdir -p bin
	@go build -C hack/cluster -o ../../bin/cluster .

##@ Other

.PHONY: clean
clean: ## Delete the build results; the cached Kubernetes stays
	@rm -rf bin dist

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
