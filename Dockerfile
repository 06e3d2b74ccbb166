# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# The daemon's image: one static program on a base that has no shell.
#
# Both images are pinned by digest. "make update-base-images" writes the current digests of
# their tags here and into .ko.yaml. A release is refused while a digest is missing
# (docs/installation.md#the-image).
ARG BUILD_IMAGE=golang:1.26.3-trixie@sha256:0f6b034c99663ea8957e7dae99124e37374cbe7fcb5b5646f19b185f8f976279
ARG BASE_IMAGE=gcr.io/distroless/static-debian13:nonroot@sha256:963fa6c544fe5ce420f1f54fb88b6fb01479f054c8056d0f74cc2c6000df5240

FROM --platform=${BUILDPLATFORM} ${BUILD_IMAGE} AS build
WORKDIR /src
# The modules are a separate layer, so that a code change does not download them again.
COPY go.mod go.sum ./
RUN go mod download
COPY cmd/vk-sandbox ./cmd/vk-sandbox
COPY pkg ./pkg
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=unknown
# The same settings as in the Makefile, .ko.yaml and .goreleaser.yaml, so that the program
# is identical.
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/vk-sandbox ./cmd/vk-sandbox

FROM ${BASE_IMAGE}
ARG VERSION=unknown
LABEL org.opencontainers.image.source=https://github.com/cocoonstack/vk-sandbox \
      org.opencontainers.image.licenses=Apache-2.0 \
      org.opencontainers.image.version=${VERSION}
COPY --from=build /out/vk-sandbox /vk-sandbox
# The base's nonroot user, by number, so that a kubelet can check runAsNonRoot. The chart
# runs the daemon as root, because root owns the state folder on the host.
USER 65532:65532
ENTRYPOINT ["/vk-sandbox"]
