# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# One static binary and nothing else. Both images can be replaced, by a mirror or
# pinned to a digest:
#   docker build --build-arg BUILD_IMAGE=golang:1.26@sha256:... --build-arg VERSION=v0.1.0 .
ARG BUILD_IMAGE=golang:1.26
ARG BASE_IMAGE=scratch

FROM --platform=${BUILDPLATFORM} ${BUILD_IMAGE} AS build
WORKDIR /src
# The modules come first, so that a change in the code does not fetch them again.
COPY go.mod go.sum ./
RUN go mod download
COPY cmd ./cmd
COPY pkg ./pkg
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/vk-sandbox ./cmd/vk-sandbox

FROM ${BASE_IMAGE}
COPY --from=build /out/vk-sandbox /vk-sandbox
# Root: the state directory on the host belongs to root. The chart takes away
# capabilities, privilege escalation and write access to the root file system.
USER 0:0
ENTRYPOINT ["/vk-sandbox"]
