# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# Hosts of the local cluster, from 1 to 9.
HOSTS ?= 1
# What runs the cluster: "local" (a real Kubernetes from its own modules) or "kind".
export CLUSTER ?= local
export VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := '-s -w -X main.version=$(VERSION)'
# FAIL_ON_SKIP=1 makes a test that is skipped a failure, as .ci/run does.
export FAIL_ON_SKIP ?=

# A static program runs in an image that has nothing else, and one without paths and
# the state of a checkout is the same wherever it is built. The same settings for all
# that is built here let it share one build cache; only the race detector needs its own.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -buildvcs=false)

##@ See it work

.PHONY: demo
demo: ## Show the whole main job on a real cluster, step by step; the cluster stays up
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
images: build ## Make the daemon's image and give it to every host of the cluster
	@hack/load-image.sh

.PHONY: generate
generate: ## Generate code and CRDs from pkg/apis, docs/metrics.md and docs/configuration.md
	@hack/update-codegen.sh

##@ Test

# The unit tests are what takes the processor, the others wait most of the time.
.PHONY: test
test: ## Run all tests: unit, and beside them crash, chart, packaging and end-to-end, in turn
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-unit test-in-turn

.PHONY: test-in-turn
test-in-turn:
	@for part in crash chart packaging e2e; do $(MAKE) --no-print-directory "test-$${part}"; done

.PHONY: test-unit
test-unit: ## Run the tests of every module with the race detector, but for those below
	@hack/test-unit.sh

.PHONY: test-chart
test-chart: ## Run the chart's tests
	@hack/test-chart.sh

.PHONY: test-packaging
test-packaging: bin/vk-sandbox ## Build the image, packages and SBOM, and start the systemd unit
	@hack/test-packaging.sh

.PHONY: test-reproducible
test-reproducible: ## Build the daemon twice from nothing, and compare the bytes
	@hack/test-reproducible.sh

.PHONY: test-e2e
test-e2e: build ## Run the end-to-end tests on a cluster of their own; KEEP_CLUSTER=1 uses one that is up, and leaves it
	@hack/test-e2e.sh

.PHONY: e2e
e2e: test-e2e ## The same by its short name, as in: make e2e CLUSTER=kind

.PHONY: test-crash
test-crash: build ## Kill the real daemon 100 times under load, and judge what is left
	@hack/go-test.sh -count=1 -timeout=20m ./test/crash -binary=$(CURDIR)/bin/vk-sandbox

.PHONY: soak
soak: build ## Play new random histories and kill the real daemon for SOAK=30m, until something is wrong
	@hack/soak.sh

.PHONY: bench
bench: build ## Measure the daemon against KWOK and its targets, and print a table; hack/bench.sh has the variables
	@hack/bench.sh

.PHONY: bench-smoke
bench-smoke: build ## Take every measurement of the bench once, small, to see that it works
	@hack/bench.sh --smoke

.PHONY: bench-micro
bench-micro: ## Run the packages' benchmarks into bin/bench-micro.txt; BENCH_BASE=FILE compares with an earlier run
	@hack/bench-micro.sh

.PHONY: verify
verify: ## Check formatting, vet, linters, generated files, modules, licence headers and scripts
	@hack/verify.sh

##@ Release

.PHONY: release
release: ## Publish the programs, packages, SBOMs and image of the tag that is checked out
	@hack/release.sh

.PHONY: release-snapshot
release-snapshot: ## Make what a release publishes, but for the image, into dist/
	@hack/release.sh --snapshot

.PHONY: release-check
release-check: ## Check the release's configuration with goreleaser, and that the base images have digests
	@hack/release.sh --check

.PHONY: update-base-images
update-base-images: ## Pin the base images to the digests that their tags have now
	@hack/update-base-images.sh

##@ Cluster

.PHONY: cluster-up
cluster-up: build ## Start a real Kubernetes on this machine with HOSTS=n hosts, each with a simulated sandboxd
	@bin/cluster up --hosts=$(HOSTS) --sandboxd-bin=bin/sandboxd-sim

.PHONY: cluster-down
cluster-down: bin/cluster ## End the cluster and take back all that it did to the machine
	@bin/cluster down

.PHONY: cluster-status
cluster-status: bin/cluster ## Show the cluster's components and hosts
	@bin/cluster status

bin/cluster:
	@mkdir -p bin
	@go build -C hack/cluster -o ../../bin/cluster .

##@ Other

.PHONY: clean
clean: ## Delete what was built here; the cached Kubernetes stays
	@rm -rf bin dist

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
