# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# The daemon's image: one static program on a base that has no shell.
#
# "make update-base-images" looks up the digests of both images in their registries
# and writes them here and into .ko.yaml, as name:tag@sha256:...; a release is
# refused while one is missing (docs/installation.md#the-image).
ARG BUILD_IMAGE=golang:1.26
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot

FROM --platform=${BUILDPLATFORM} ${BUILD_IMAGE} AS build
WORKDIR /src
# The modules come first, so that a change in the code does not fetch them again.
COPY go.mod go.sum ./
RUN go mod download
COPY cmd/vk-sandbox ./cmd/vk-sandbox
COPY pkg ./pkg
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=unknown
# As the Makefile, .ko.yaml and .goreleaser.yaml build it: the same bytes.
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/vk-sandbox ./cmd/vk-sandbox

FROM ${BASE_IMAGE}
ARG VERSION=unknown
LABEL org.opencontainers.image.source=https://github.com/cocoonstack/vk-sandbox \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=${VERSION}
COPY --from=build /out/vk-sandbox /vk-sandbox
# The base's nonroot user, by number, so that a kubelet can check runAsNonRoot. The
# chart runs the daemon as root, to which the state folder on the host belongs.
USER 65532:65532
ENTRYPOINT ["/vk-sandbox"]
