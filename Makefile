# Everything runs under the Node that `npm ci` brings, where the system's is older.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
export npm_config_update_notifier := false

# Two targets run at the same time, and each prints its output as a whole where make can do that.
IN_PAIRS = $(MAKE) --no-print-directory --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

node_modules: package-lock.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch node_modules

.PHONY: deps
deps: node_modules ## Install the npm packages

.PHONY: test-deps
test-deps: node_modules ## Install what the tests need besides npm packages
	@sh test/support/install-system-packages.sh
	@bash test/support/install-helm.sh >/dev/null

.PHONY: kubernetes
kubernetes: ## Build Kubernetes for the tests, once, with Go 1.25 or newer
	@bash test/support/cluster/prepare.sh

.PHONY: fastmcp
fastmcp: ## Install fastmcp, an MCP client in Python, for the tests, once
	@bash test/support/install-fastmcp.sh >/dev/null

.PHONY: run
run: deps ## Run the demo: an identity provider, MCP servers, an application, and the gateway between
	@node cli/gatehouse.js demo

.PHONY: test
test: test-deps kubernetes fastmcp ## Run all tests (make test FILE=test/unit runs some)
ifdef FILE
	npm test -- $(FILE)
else
	npm run --silent test:most
	@$(IN_PAIRS) test-e2e test-redis
	npm run --silent test:cluster
endif

.PHONY: test-e2e test-redis
test-e2e test-redis:
	npm run --silent $(subst -,:,$@)

.PHONY: conformance
conformance: deps ## Run the official MCP conformance suite, and print how much of it passes
	npm test -- --verbose test/conformance/official-

.PHONY: check
check: deps static test ## Check everything that CI checks

# The longest first.
STATIC_CHECKS := lint format-check typecheck unused boundaries names generate-check

.PHONY: static
static: deps ## Check format, types, lint, boundaries, names, unused code and generated files
	@$(IN_PAIRS) $(STATIC_CHECKS)

.PHONY: lint typecheck unused boundaries names
lint typecheck unused boundaries names:
	npm run --silent $@

.PHONY: format-check
format-check:
	npm run --silent format:check

.PHONY: generate-check
generate-check:
	npm run --silent generate -- --check

.PHONY: format
format: deps ## Format all files
	npm run --silent format

.PHONY: generate
generate: deps ## Generate types and checks from the CRDs and schemas
	npm run --silent generate

.PHONY: golden
golden: deps ## Rewrite the golden files; the diff is the review
	UPDATE_GOLDEN=1 npm test -- test/golden test/chart/golden test/integration/tracing/one-trace

.PHONY: bench-forward
bench-forward: deps ## Measure a request through the gateway beside nginx, haproxy and http-proxy
	node test/bench/forward/main.ts

.PHONY: bench-profile
bench-profile: deps ## Show where the time and the allocations of a request go
	node test/bench/forward/profile.ts

.PHONY: bench-abuse
bench-abuse: deps ## Measure what anonymous requests can cost, in ordinary requests
	node test/bench/abuse/main.ts

.PHONY: bench-state
bench-state: test-deps ## Measure what state in Redis costs, and how fast a revocation holds
	node test/bench/state/main.ts

.PHONY: bench-propagation
bench-propagation: test-deps kubernetes ## Measure how long a changed Route takes to all proxies, and what many Routes cost
	node test/bench/propagation/main.ts

.PHONY: bench-streams
bench-streams: deps ## Measure what open event streams and large bodies cost, against nginx
	node test/bench/streams/main.ts

.PHONY: bench-rolling-restart
bench-rolling-restart: test-deps kubernetes ## Count what clients lose while all proxies are replaced
	node test/bench/rolling-restart/main.ts

.PHONY: bench-start
bench-start: test-deps ## Measure what the start of each command costs, and first requests
	node test/bench/start/main.ts

# The architecture of images; that of this machine if it is not given.
ARCH ?=
IMAGE_FLAGS := $(if $(ARCH),--arch $(ARCH))

.PHONY: image
image: deps image-deps ## Build the image as artifacts/gatehouse-image-ARCH.tar (make image ARCH=arm64)
	@node image/main.ts $(IMAGE_FLAGS)

.PHONY: image-tree
image-tree: deps image-deps ## Build the files of the image alone
	@node image/main.ts --tree-only $(IMAGE_FLAGS)

.PHONY: sbom
sbom: image-tree ## List what the image holds: artifacts/gatehouse-image-ARCH.cdx.json (CycloneDX)

.PHONY: image-deps
image-deps:
	@sh image/install-system-packages.sh $(ARCH)

.PHONY: clean
clean: ## Remove what is installed and made
	rm -rf node_modules coverage artifacts
