# The image of Gatehouse, built by an engine. `make image` makes the same files without one (docs/image.md).
#
#   docker buildx build --platform linux/amd64,linux/arm64 .
FROM --platform=$BUILDPLATFORM node:24-bookworm-slim AS build
ARG BUILDARCH
ARG TARGETARCH
# The second one runs Node of another architecture.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends elfutils \
  && if [ "$BUILDARCH" != "$TARGETARCH" ]; then apt-get install --yes --no-install-recommends qemu-user-static; fi
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund
COPY . .
# Node in the image is the one that package-lock.json pins, and not that of this stage.
RUN PATH="/src/node_modules/.bin:$PATH" node image/main.ts --arch "$TARGETARCH" --tree-only --out /out \
  && mv "/out/gatehouse-image-$TARGETARCH" /tree

FROM scratch
COPY --from=build /tree /
ENV PATH=/usr/local/bin
USER 65532:65532
WORKDIR /
ENTRYPOINT ["gatehouse"]
