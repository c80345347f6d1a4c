# syntax=docker/dockerfile:1
# The server and the operator's tool: two static programs on an image without shell or package manager.
#   docker build --build-arg VERSION=v1.2.3 --build-arg COMMIT=$(git rev-parse HEAD) -t lottery:v1.2.3 .
# For a build that stays the same, pin both images by digest.

FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X lottery/models.version=$VERSION" -o /out/ ./cmd/... \
    && mkdir /out/data

# static-debian12 has CA roots, time zones and the user 65532; nothing else.
FROM gcr.io/distroless/static-debian12:nonroot
ARG VERSION=dev
ARG COMMIT=unknown
LABEL org.opencontainers.image.title="Lottery draws API" \
      org.opencontainers.image.description="Historical draws of the US digit games as an API with keys, quotas and billing" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT" \
      org.opencontainers.image.base.name="gcr.io/distroless/static-debian12:nonroot"
COPY --from=build /out/lotteryapi /out/lotteryadmin /usr/local/bin/
COPY --from=build --chown=65532:65532 /out/data /var/lib/lottery
ENV LOTTERY_LISTEN=0.0.0.0:8080 \
    LOTTERY_DATABASE_URL=sqlite:/var/lib/lottery/lottery.db \
    LOTTERY_LOG_FORMAT=json
WORKDIR /var/lib/lottery
VOLUME /var/lib/lottery
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/usr/local/bin/lotteryapi", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/lotteryapi"]
CMD ["serve"]
